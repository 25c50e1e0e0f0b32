// What a command is, and how one is added: one file in this folder, and its line in CMakeLists.txt.
//
//     // in experiments/simulate.cpp
//     Command simulate() {
//       Command command;
//       command.summary = "program a crossbar and send queries through it";
//       command.examples = {"zbphw simulate --device configs/devices/pcm_crossbar.json"};
//       command.options.add_options()("device", option_value<std::string>("FILE"), "the device's configuration");
//       command.run = [](const Invocation& invocation) -> CommandResult { ... };
//       return command;
//     }
//     const Registration<CommandFactory> registered("simulate", simulate);
//
// The frame (frame.hpp) does the rest: it reads the options, maps exceptions to exit codes, measures the time, prints.
#pragma once

#include <boost/program_options.hpp>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "base/json.hpp"
#include "base/registry.hpp"

namespace zbphw {

enum class Compute { cpu, cuda };  // where LibTorch computes; which analog device is simulated is a config's business

template <>
struct Choices<Compute> {
  static std::vector<std::pair<Compute, std::string>> all() { return {{Compute::cpu, "cpu"}, {Compute::cuda, "cuda"}}; }
};

// The options that every command has.
struct CommonOptions {
  std::optional<std::string> out;
  std::optional<std::uint64_t> seed;
  int threads = 1;  // the frame has set LibTorch's count to it
  Compute compute = Compute::cpu;
  std::vector<std::string> overrides;  // --set: each "path=value", in order; see apply_override()
  bool force = false;
  bool json = false;
  bool quiet = false;  // no progress line, no notes on standard error
};

constexpr std::uint64_t default_seed = 1;

// One call of a command, its options read and checked.
class Invocation {
 public:
  Invocation(std::string command, CommonOptions common, boost::program_options::variables_map own)
      : common(std::move(common)), command_(std::move(command)), own_(std::move(own)) {}

  const CommonOptions common;

  bool has(const char* option) const { return own_.count(option) != 0; }

  // The value of one of the command's own options, which must be there: given, or with a default.
  template <class T>
  const T& get(const char* option) const {
    return own_[option].as<T>();
  }

  template <class T>
  std::optional<T> find(const char* option) const {
    return has(option) ? std::optional<T>(get<T>(option)) : std::nullopt;
  }

  std::uint64_t seed() const { return common.seed.value_or(default_seed); }

  // --out, or runs/<command>/<name>.
  std::string out_directory(const std::string& name) const;

 private:
  std::string command_;
  boost::program_options::variables_map own_;
};

struct CommandResult {
  // The fields of the `--json` object that are this command's own. The frame adds "command", "version", "seed", "out",
  // "files" and "wall_s"; a "seed" that stands here already (from a configuration) is kept.
  Json values = Json::object();

  // What a person reads on standard output when --json is not given; lines end with '\n'.
  std::string text;

  // The run directory, or "" for a command that writes none. The frame puts summary.json there.
  std::string out;

  // Files that were written, as the user would open them.
  std::vector<std::string> files;

  // Not 0 for an answer that scripts branch on ("these differ"); a failure is an exception.
  int exit_code = 0;
};

struct Command {
  std::string summary;                // one line for `zbphw --help`
  std::vector<std::string> examples;  // command lines, the most useful first
  boost::program_options::options_description options{"Options"};
  boost::program_options::positional_options_description positional;  // none by default
  std::function<CommandResult(const Invocation&)> run;
};

// Commands are found in Registry<CommandFactory>.
using CommandFactory = Command (*)();

// A typed option with the name that its value has in --help: option_value<std::string>("FILE").
template <class T>
boost::program_options::typed_value<T>* option_value(const char* name) {
  return boost::program_options::value<T>()->value_name(name);
}

// Reads a command's arguments (what follows its name). Throws a usage Error of one line: an unknown option with the
// nearest known one, a missing or malformed value, a stray word.
Invocation read_arguments(const std::string& name, const Command& command, const std::vector<std::string>& arguments);

// The description of the common options, for reading and for --help.
boost::program_options::options_description common_options();

}  // namespace zbphw
