#include "experiments/help.hpp"

#include <algorithm>
#include <iomanip>
#include <sstream>

namespace zbphw {

std::string general_help() {
  const Registry<CommandFactory>& registry = Registry<CommandFactory>::instance();
  std::size_t width = 0;
  for (const std::string& name : registry.names()) width = std::max(width, name.size());
  std::ostringstream out;
  out << "zbphw simulates analog hardware and trains language models on it without backpropagation.\n\n"
      << "usage: zbphw <command> [options]\n\ncommands:\n";
  for (const std::string& name : registry.names()) {
    out << "  " << std::left << std::setw(static_cast<int>(width) + 2) << name
        << registry.at(name, "command", "")().summary << "\n";
  }
  out << "\n'zbphw <command> --help' shows a command's options and examples; 'zbphw --version' the libraries in use.\n"
      << "Exit codes: 0 done, 2 usage or configuration, 3 input data or file, 4 numerical failure, 5 device or "
         "plugin,\n"
      << "130 interrupted (what was done is saved), 1 out of memory or a defect of zbphw.\n";
  return out.str();
}

std::string command_help(const std::string& name, const Command& command) {
  std::ostringstream out;
  out << "zbphw " << name << ": " << command.summary << "\n\nusage: zbphw " << name;
  // A bounded list of positional names; one with no bound repeats its last name for ever.
  const unsigned shown = std::min(command.positional.max_total_count(), 4U);
  for (unsigned i = 0; i < shown; ++i) out << " <" << command.positional.name_for_position(i) << ">";
  out << " [options]\n\n" << command.options << "\n" << common_options();
  if (!command.examples.empty()) out << "\nExamples:\n";
  for (const std::string& example : command.examples) out << "  " << example << "\n";
  return out.str();
}

}  // namespace zbphw
