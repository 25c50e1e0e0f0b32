#include "experiments/frame.hpp"

#include <ATen/Context.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>

#include "base/atomic_file.hpp"
#include "base/threads.hpp"
#include "base/version.hpp"
#include "experiments/command.hpp"
#include "experiments/environment.hpp"
#include "experiments/failure.hpp"
#include "experiments/help.hpp"
#include "experiments/standard_output.hpp"

namespace zbphw {
namespace {

using Clock = std::chrono::steady_clock;

bool contains(const std::vector<std::string>& words, const std::string& word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// One line of JSON. A name in it may be a file name of any bytes, so what is not UTF-8 is replaced.
std::string json_line(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"; }

std::string version_text(const Json& environment) {
  std::string text = "zbphw " + std::string(version()) + " (commit " + commit() + ")\n";
  for (const auto& [key, value] : environment.items()) {
    if (key == "version" || key == "commit") continue;
    text += key + ": " + (value.is_string() ? value.get<std::string>() : value.dump()) + "\n";
  }
  return text;
}

void prepare_libraries(const CommonOptions& common) {
  set_threads(common.threads);
  if (common.compute == Compute::cuda && (!at::hasCUDA() || at::detail::getCUDAHooks().getNumGPUs() == 0)) {
    throw usage_error("--compute cuda: this LibTorch has no CUDA, or finds no GPU; allowed here: cpu");
  }
  const BlasInfo blas = find_blas();
  if (blas.is_reference && !common.quiet) {
    std::fprintf(
        stderr,
        "zbphw: warning: matrix products run on the %s, about 20 times slower than OpenBLAS; install the Debian "
        "package libopenblas0-openmp\n",
        blas.name.c_str());
  }
}

// What the command returned, with the fields that every result has.
Json complete_values(const std::string& name, const Invocation& invocation, const CommandResult& result,
                     double wall_s) {
  Json values = Json::object();
  values["command"] = name;
  values["version"] = version();
  values["seed"] = invocation.seed();
  values["out"] = result.out.empty() ? Json() : Json(result.out);
  values["files"] = result.files;
  values["wall_s"] = wall_s;
  for (const auto& [key, value] : result.values.items()) values[key] = value;
  return values;
}

std::string text_of(const CommandResult& result) {
  std::string text = result.text;
  if (!result.files.empty()) text += "files written:\n";
  for (const std::string& file : result.files) text += "  " + file + "\n";
  return text;
}

// The exit code of what ran to its end.
int run_command(const std::vector<std::string>& arguments, StandardOutput& output) {
  if (arguments.empty()) throw usage_error("no command given ('zbphw --help' lists them)");
  const std::string& name = arguments.front();
  const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
  if (name == "--help" || name == "-h") {
    output.write(general_help());
    return 0;
  }
  if (name == "--version") {
    set_threads(allowed_cpus());
    const Json environment = describe_environment();
    output.write(contains(rest, "--json") ? json_line(environment) : version_text(environment));
    return 0;
  }
  if (name.rfind('-', 0) == 0) {
    throw usage_error("a command comes first, then its options; got '" + name +
                      "' ('zbphw --help' lists the commands)");
  }
  const Registry<CommandFactory>& registry = Registry<CommandFactory>::instance();
  const std::vector<std::string> known = registry.names();
  if (!contains(known, name)) {
    throw usage_error("unknown command '" + name + "'" + did_you_mean(name, known) + " ('zbphw --help' lists them)");
  }
  const Command command = registry.at(name, "command", "")();
  if (contains(rest, "--help") || contains(rest, "-h")) {
    output.write(command_help(name, command));
    return 0;
  }

  const Clock::time_point start = Clock::now();
  const Invocation invocation = read_arguments(name, command, rest);
  prepare_libraries(invocation.common);
  CommandResult result = command.run(invocation);
  const std::string summary = result.out.empty() ? "" : (std::filesystem::path(result.out) / "summary.json").string();
  if (!summary.empty()) result.files.push_back(summary);
  const double wall_s = std::chrono::duration<double>(Clock::now() - start).count();
  const Json values = complete_values(name, invocation, result, wall_s);
  if (!summary.empty())
    write_file_atomically(summary, values.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
  output.write(invocation.common.json ? json_line(values) : text_of(result));
  return result.exit_code;
}

// Says what went wrong, as far as anybody can still be told.
int report(const Failure& failure, bool json, StandardOutput& output) {
  std::fprintf(stderr, "zbphw: error: %s\n", one_line(failure).c_str());
  if (!json) return failure.exit_code;
  try {
    output.write(json_line(failure_json(failure)));
  } catch (const std::exception&) {
    // Standard output is what failed, and the line above has said so.
  }
  return failure.exit_code;
}

}  // namespace

int run_command_line(const std::vector<std::string>& arguments) {
  // Looked for by hand, since a command line that cannot be read must still answer in JSON.
  const bool json = contains(arguments, "--json");
  StandardOutput output(json);
  try {
    return run_command(arguments, output);
  } catch (...) {
    return report(describe_failure(std::current_exception()), json, output);
  }
}

}  // namespace zbphw
