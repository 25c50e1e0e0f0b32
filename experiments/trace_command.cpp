// `zbphw trace`: what is in a trace, where two traces differ, and one data set as a CSV or .npy file.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iomanip>
#include <sstream>

#include "experiments/command.hpp"
#include "experiments/trace_diff.hpp"
#include "experiments/trace_export.hpp"

namespace zbphw {
namespace {

const std::vector<std::string> actions = {"info", "diff", "export"};

std::vector<std::string> files_of(const Invocation& invocation, std::size_t wanted) {
  const auto files = invocation.find<std::vector<std::string>>("file").value_or(std::vector<std::string>());
  if (files.size() != wanted) {
    throw usage_error("trace " + invocation.get<std::string>("action") + " takes " + std::to_string(wanted) +
                      (wanted == 1 ? " file; got " : " files; got ") + std::to_string(files.size()));
  }
  return files;
}

void refuse_option(const Invocation& invocation, const char* option, const char* action) {
  if (invocation.has(option)) throw usage_error(std::string("--") + option + " belongs to 'trace " + action + "'");
}

Json series_json(const TraceSeries& series) {
  Json json = Json::object();
  json["data_set"] = series.path;
  json["rows"] = series.rows;
  json["row_shape"] = series.row_shape;
  json["type"] = to_text(series.type);
  json["units"] = series.units;
  json["description"] = series.description;
  json["chunk_rows"] = series.chunk_rows;
  return json;
}

std::string series_table(const TraceReader& trace) {
  std::size_t path_width = 8;
  std::size_t shape_width = 5;
  std::size_t units_width = 5;
  for (const TraceSeries& series : trace.series()) {
    path_width = std::max(path_width, series.path.size());
    shape_width = std::max(shape_width, series.shape_text().size());
    units_width = std::max(units_width, series.units.size());
  }
  std::ostringstream out;
  const auto line = [&](const std::string& path, const std::string& shape, const std::string& type,
                        const std::string& units, const std::string& description) {
    out << std::left << std::setw(static_cast<int>(path_width) + 2) << path
        << std::setw(static_cast<int>(shape_width) + 2) << shape << std::setw(9) << type
        << std::setw(static_cast<int>(units_width) + 2) << units << description << "\n";
  };
  line("data set", "shape", "type", "units", "description");
  for (const TraceSeries& series : trace.series()) {
    line(series.path, series.shape_text(), to_text(series.type), series.units, series.description);
  }
  return out.str();
}

// The device as JSON, or as a text where it is none.
Json device_of(const TraceHeader& header) {
  Json device = Json::parse(header.device_json, nullptr, false);
  return device.is_discarded() ? Json(header.device_json) : device;
}

CommandResult info(const Invocation& invocation) {
  for (const char* option : {"data-set", "to"}) refuse_option(invocation, option, "export");
  refuse_option(invocation, "tolerance", "diff");
  const TraceReader trace(files_of(invocation, 1).front());
  const TraceHeader& header = trace.header();
  CommandResult result;
  result.values["trace"] = trace.path();
  result.values["format_version"] = trace_format_version;
  result.values["written_by"] = header.command;
  result.values["writer_version"] = header.version;
  result.values["seed"] = header.seed;
  result.values["created_utc"] = header.created_utc;
  result.values["device"] = device_of(header);
  result.values["series"] = Json::array();
  for (const TraceSeries& series : trace.series()) result.values["series"].push_back(series_json(series));
  result.text = trace.path() + ": trace of zbphw " + header.command + ", version " + header.version + ", seed " +
                std::to_string(header.seed) + ", " + header.created_utc + "\n\n" + series_table(trace);
  return result;
}

std::string difference_text(const TraceDifference& difference) {
  const std::string pair = difference.first + " and " + difference.second;
  if (difference.kind == "value") {
    return difference.data_set + " row " + std::to_string(difference.row) + ", column " +
           std::to_string(difference.column) + ": " + pair;
  }
  return difference.data_set + " " + difference.kind + ": " + pair;
}

Json difference_json(const TraceDifference& difference) {
  Json json = Json::object();
  json["data_set"] = difference.data_set;
  json["kind"] = difference.kind;
  json["row"] = difference.row;
  json["column"] = difference.column;
  json["first"] = difference.first;
  json["second"] = difference.second;
  return json;
}

CommandResult diff(const Invocation& invocation) {
  for (const char* option : {"data-set", "to"}) refuse_option(invocation, option, "export");
  const auto tolerance = invocation.find<double>("tolerance").value_or(0);
  if (!(tolerance >= 0) || std::isinf(tolerance)) throw usage_error("--tolerance: allowed: a number, at least 0");
  const std::vector<std::string> files = files_of(invocation, 2);
  const TraceReader first(files[0]);
  const TraceReader second(files[1]);
  const std::vector<TraceDifference> differences = compare_traces(first, second, tolerance);
  const std::vector<std::string> notes = compare_headers(first.header(), second.header());
  CommandResult result;
  result.values["identical"] = differences.empty();
  result.values["tolerance"] = tolerance;
  result.values["differences"] = Json::array();
  result.values["header_differences"] = notes;
  result.text = differences.empty() ? "identical\n" : "different; the first row that differs in each data set:\n";
  for (const TraceDifference& difference : differences) {
    result.values["differences"].push_back(difference_json(difference));
    result.text += "  " + difference_text(difference) + "\n";
  }
  for (const std::string& note : notes) result.text += "note: the headers differ in " + note + "\n";
  result.exit_code = differences.empty() ? 0 : exit_code(ErrorKind::data);
  return result;
}

// An existing file is refused, or with --force renamed to the first free "FILE.old-N".
void make_room(const std::string& file, bool force) {
  const auto taken = [](const std::string& name) {
    return std::filesystem::exists(std::filesystem::symlink_status(name));
  };
  if (!taken(file)) return;
  if (!force) throw data_error(file, "exists; choose another name, or --force to move it to " + file + ".old-N");
  int number = 1;
  while (taken(file + ".old-" + std::to_string(number))) ++number;
  std::filesystem::rename(file, file + ".old-" + std::to_string(number));
}

CommandResult export_data_set(const Invocation& invocation) {
  refuse_option(invocation, "tolerance", "diff");
  if (!invocation.has("data-set") || !invocation.has("to")) {
    throw usage_error("trace export needs --data-set PATH (see 'zbphw trace info') and --to FILE.npy or FILE.csv");
  }
  const TraceReader trace(files_of(invocation, 1).front());
  const std::string& file = invocation.get<std::string>("to");
  make_room(file, invocation.common.force);
  export_series(trace, invocation.get<std::string>("data-set"), file);
  CommandResult result;
  result.values["series"] = series_json(trace.find(invocation.get<std::string>("data-set")));
  result.files.push_back(file);
  return result;
}

CommandResult run(const Invocation& invocation) {
  const std::string action = invocation.find<std::string>("action").value_or("");
  if (action == "info") return info(invocation);
  if (action == "diff") return diff(invocation);
  if (action == "export") return export_data_set(invocation);
  throw usage_error(action.empty()
                        ? "trace needs an action: " + join_choices(actions)
                        : "trace " + action + ": allowed: " + join_choices(actions) + did_you_mean(action, actions));
}

Command trace_command() {
  Command command;
  command.summary = "show what is in a trace, where two differ, or write a data set as CSV or .npy";
  command.examples = {"zbphw trace info runs/simulate/pcm_crossbar/trace.h5",
                      "zbphw trace diff a.h5 b.h5 --tolerance 1e-9     # exit code 0: identical, 3: different",
                      "zbphw trace export a.h5 --data-set /signals/measured --to measured.npy"};
  // clang-format off
  command.options.add_options()
    ("action", option_value<std::string>("info|diff|export"), "what to do; comes first, without its name")
    ("file", option_value<std::vector<std::string>>("TRACE"), "the trace, or for diff the two traces; likewise")
    ("tolerance", option_value<double>("T"), "diff: values a and b are the same when |a - b| <= T max(1, |a|, |b|) "
                                             "(default: 0)")
    ("data-set", option_value<std::string>("PATH"), "export: the data set, such as /signals/measured")
    ("to", option_value<std::string>("FILE"), "export: the new file, in the format of its ending: .csv or .npy");
  // clang-format on
  command.positional.add("action", 1).add("file", 2);
  command.run = run;
  return command;
}

const Registration<CommandFactory> registered("trace", trace_command);

}  // namespace
}  // namespace zbphw
