// `zbphw runs`: the run directories below a directory, their state and best loss.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iomanip>
#include <optional>
#include <sstream>

#include "base/config_kind.hpp"
#include "base/error.hpp"
#include "base/progress.hpp"
#include "experiments/command.hpp"
#include "experiments/figures.hpp"
#include "experiments/run_directory.hpp"

namespace zbphw {
namespace {

namespace fs = std::filesystem;

struct RunState {
  std::string path;
  std::string kind;   // "train", "simulate", ... as config.json says; "" when it does not
  std::string state;  // "done", "running", "stopped" (can be continued), "failed" or "damaged"
  std::int64_t step = 0;
  std::optional<std::int64_t> total_steps;
  std::optional<double> best_validation_loss;
  double time_s = 0;
};

// The training log, as far as it can be read: a run that goes on may be writing its last line.
void read_log(const std::string& path, RunState& run) {
  std::ifstream in(path, std::ios::binary);
  std::string text;
  while (std::getline(in, text)) {
    const Json line = Json::parse(text, nullptr, false);
    if (!line.is_object() || !line.contains("event") || !line["event"].is_string()) {
      if (!in.eof()) run.state = "damaged";
      return;
    }
    const auto event = line["event"].get<std::string>();
    run.step = line.value("step", run.step);
    run.time_s = line.value("time_s", run.time_s);
    if (event == "header" && line.contains("total_steps")) run.total_steps = line["total_steps"].get<std::int64_t>();
    if (event == "validation" && line["loss"].is_number()) {
      const double loss = line["loss"];
      run.best_validation_loss = std::min(run.best_validation_loss.value_or(loss), loss);
    }
    if (event == "done") run.state = "done";
    if (event == "guard") run.state = "failed";
    // A run that was continued after a failure is no longer one that failed.
    if (event == "train" && run.state == "failed") run.state = "stopped";
  }
}

RunState look_at(const fs::path& directory) {
  RunState run;
  run.path = directory.string();
  run.state = fs::exists(directory / "summary.json") ? "done" : "stopped";
  std::ifstream config(directory / "config.json", std::ios::binary);
  const Json json = Json::parse(config, nullptr, false);
  if (!json.is_object()) {
    run.state = "damaged";
    return run;
  }
  const auto kind = json.find("kind");
  if (kind != json.end() && kind->is_string()) run.kind = kind->get<std::string>();
  try {
    if (fs::exists(directory / "log.jsonl")) read_log((directory / "log.jsonl").string(), run);
  } catch (const Json::exception&) {
    run.state = "damaged";
  }
  if (run_in_progress(run.path)) run.state = "running";
  return run;
}

// A run directory holds config.json; there are none inside it.
void collect(const fs::path& directory, std::vector<RunState>& runs) {
  if (fs::exists(directory / "config.json")) {
    runs.push_back(look_at(directory));
    return;
  }
  for (const auto& entry : fs::directory_iterator(directory)) {
    if (entry.is_directory() && !entry.is_symlink()) collect(entry.path(), runs);
  }
}

Json to_json(const RunState& run) {
  Json json = {{"path", run.path}, {"kind", run.kind}, {"state", run.state}, {"step", run.step}};
  json["total_steps"] = run.total_steps ? Json(*run.total_steps) : Json();
  json["best_validation_loss"] = run.best_validation_loss ? Json(*run.best_validation_loss) : Json();
  json["time_s"] = run.time_s;
  return json;
}

std::string table_text(const std::vector<RunState>& runs) {
  std::size_t width = 3;
  for (const RunState& run : runs) width = std::max(width, run.path.size());
  std::ostringstream out;
  const auto line = [&](const std::string& path, const std::string& kind, const std::string& state,
                        const std::string& step, const std::string& loss, const std::string& time) {
    out << std::left << std::setw(static_cast<int>(width) + 2) << path << std::setw(13) << kind << std::setw(9) << state
        << std::right << std::setw(17) << step << std::setw(12) << loss << std::setw(11) << time << "\n";
  };
  line("run", "kind", "state", "update", "best loss", "time");
  for (const RunState& run : runs) {
    const bool trains = run.total_steps.has_value();
    line(run.path, run.kind.empty() ? "-" : run.kind, run.state,
         trains ? grouped(run.step) + " / " + grouped(*run.total_steps) : "-",
         run.best_validation_loss ? fixed(*run.best_validation_loss, 3) : "-",
         trains ? duration_text(run.time_s) : "-");
  }
  return out.str();
}

CommandResult run(const Invocation& invocation) {
  const std::string& directory = invocation.get<std::string>("directory");
  std::vector<RunState> runs;
  const bool is_default = directory == "runs";
  if (fs::is_directory(directory)) {
    collect(directory, runs);
  } else if (!is_default || fs::exists(directory)) {
    throw data_error(directory, "is not a directory");
  }
  std::sort(runs.begin(), runs.end(), [](const RunState& a, const RunState& b) { return a.path < b.path; });
  CommandResult result;
  result.values["directory"] = directory;
  result.values["runs"] = Json::array();
  for (const RunState& state : runs) result.values["runs"].push_back(to_json(state));
  result.text = runs.empty() ? "no runs in " + directory + "\n" : table_text(runs);
  return result;
}

Command runs_command() {
  Command command;
  command.summary = "list run directories, their state and best validation loss";
  command.examples = {"zbphw runs", "zbphw runs runs/train --json"};
  // clang-format off
  command.options.add_options()
    ("directory", option_value<std::string>("DIR")->default_value("runs"), "where to look; also without its name");
  // clang-format on
  command.positional.add("directory", 1);
  command.run = run;
  return command;
}

const Registration<CommandFactory> registered("runs", runs_command);

}  // namespace
}  // namespace zbphw
