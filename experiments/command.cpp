#include "experiments/command.hpp"

#include <limits>

#include "base/threads.hpp"

namespace zbphw {
namespace {

namespace po = boost::program_options;

// Abbreviations are off: a script that uses one would break when an option is added.
constexpr int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;

constexpr std::int64_t most_threads = 4096;

po::options_description all_options(const Command& command) {
  po::options_description all;
  all.add(command.options).add(common_options());
  return all;
}

std::vector<std::string> option_names(const po::options_description& options) {
  std::vector<std::string> names;
  for (const auto& option : options.options()) names.push_back("--" + option->long_name());
  return names;
}

void refuse_what_nobody_reads(const po::parsed_options& parsed, const Command& command, const std::string& name,
                              const po::options_description& known) {
  for (const po::option& option : parsed.options) {
    if (option.unregistered) {
      const std::string token = option.original_tokens.empty() ? option.string_key : option.original_tokens.front();
      const std::string given = token.substr(0, token.find('='));
      throw usage_error("unknown option '" + given + "' of '" + name + "'" + did_you_mean(given, option_names(known)) +
                        " ('zbphw " + name + " --help' lists them)");
    }
    const auto allowed = static_cast<int>(command.positional.max_total_count());
    if (option.position_key >= allowed) {
      const std::string word = option.value.empty() ? option.string_key : option.value.front();
      throw usage_error("unexpected argument '" + word + "' ('zbphw " + name + " --help' shows what it takes)");
    }
  }
}

std::int64_t whole_number(const po::variables_map& values, const char* option, std::int64_t low, std::int64_t high) {
  const std::int64_t value = values[option].as<std::int64_t>();
  if (value < low || value > high) {
    throw usage_error("--" + std::string(option) + " " + std::to_string(value) + ": allowed: from " +
                      std::to_string(low) + " to " + std::to_string(high));
  }
  return value;
}

CommonOptions read_common(const po::variables_map& values) {
  CommonOptions common;
  if (values.count("out") != 0) {
    common.out = values["out"].as<std::string>();
    if (common.out->empty()) throw usage_error("--out is empty; a directory is needed");
  }
  if (values.count("seed") != 0) {
    common.seed = static_cast<std::uint64_t>(whole_number(values, "seed", 0, std::numeric_limits<std::int64_t>::max()));
  }
  common.threads = allowed_cpus();
  if (values.count("threads") != 0) common.threads = static_cast<int>(whole_number(values, "threads", 1, most_threads));
  if (values.count("compute") != 0) {
    const std::string text = values["compute"].as<std::string>();
    const std::optional<Compute> compute = choice_from_text<Compute>(text);
    if (!compute) {
      const std::vector<std::string> names = choice_names<Compute>();
      throw usage_error("--compute " + text + ": allowed: " + join_choices(names) + did_you_mean(text, names));
    }
    common.compute = *compute;
  }
  if (values.count("set") != 0) common.overrides = values["set"].as<std::vector<std::string>>();
  common.force = values.count("force") != 0;
  common.json = values.count("json") != 0;
  common.quiet = values.count("quiet") != 0;
  return common;
}

}  // namespace

std::string Invocation::out_directory(const std::string& name) const {
  return common.out.value_or("runs/" + command_ + "/" + name);
}

po::options_description common_options() {
  po::options_description options("Common options");
  // clang-format off
  options.add_options()
    ("out", option_value<std::string>("DIR"), "where results go (default: runs/<command>/<name>); a run with the same "
                                              "configuration is resumed, another one is refused")
    ("force", "move an existing run aside, to DIR.old-N, and start anew")
    ("set", option_value<std::vector<std::string>>("PATH=VALUE")->composing(),
     "override a key of the configuration, for example adc.bits=6; may be repeated")
    ("seed", option_value<std::int64_t>("S"), "seed of all randomness (default: 1)")
    ("threads", option_value<std::int64_t>("N"), "CPU threads (default: all that this process may use)")
    ("compute", option_value<std::string>("cpu|cuda"), "where LibTorch computes (default: cpu)")
    ("json", "print one JSON object on standard output, and nothing else there")
    ("quiet", "no progress line and no notes on standard error")
    ("help,h", "show this text");
  // clang-format on
  return options;
}

Invocation read_arguments(const std::string& name, const Command& command, const std::vector<std::string>& arguments) {
  const po::options_description known = all_options(command);
  po::variables_map values;
  try {
    // Unknown options and stray words are let through here, so that the refusal below can be one helpful line.
    po::positional_options_description positional = command.positional;
    if (positional.max_total_count() != std::numeric_limits<unsigned>::max()) positional.add("(stray)", -1);
    const po::parsed_options parsed = po::command_line_parser(arguments)
                                          .options(known)
                                          .positional(positional)
                                          .style(style)
                                          .allow_unregistered()
                                          .run();
    refuse_what_nobody_reads(parsed, command, name, known);
    po::store(parsed, values);
    if (values.count("help") == 0) po::notify(values);
  } catch (const po::error& error) {
    throw usage_error(error.what());
  }
  return Invocation(name, read_common(values), values);
}

}  // namespace zbphw
