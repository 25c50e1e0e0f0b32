// `zbphw report`: pictures and one page of what a run directory holds.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/trace_reader.hpp"
#include "experiments/command.hpp"
#include "experiments/figures.hpp"
#include "experiments/report/gnuplot.hpp"
#include "experiments/report/page.hpp"
#include "experiments/report/plot.hpp"

namespace zbphw {
namespace {

namespace fs = std::filesystem;

std::string content_of(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw data_error(path.string(), "cannot be opened");
  std::ostringstream content;
  content << in.rdbuf();
  return content.str();
}

Json json_of(const fs::path& path) {
  Json json = Json::parse(content_of(path), nullptr, false);
  if (!json.is_object()) throw data_error(path.string(), "is not a JSON object: the file is damaged");
  return json;
}

// The lines of a training log; the last may be unfinished, when the run goes on.
std::vector<Json> log_of(const fs::path& path) {
  std::istringstream in(content_of(path));
  std::vector<Json> lines;
  std::string text;
  while (std::getline(in, text)) {
    Json line = Json::parse(text, nullptr, false);
    if (line.is_object()) {
      lines.push_back(std::move(line));
    } else if (!in.eof()) {
      throw data_error(path.string() + ":" + std::to_string(lines.size() + 1), "is not a line of a training log");
    }
  }
  return lines;
}

// What is said of a run, whatever its command.
// NOLINTNEXTLINE(bugprone-exception-escape): Json moves without throwing, which the check does not see
struct Report {
  std::string title;    // of the page
  std::string subject;  // of every picture
  Json seed;            // of the run
  PageTable table;
  std::vector<Plot> plots;
};

std::string number_text(const Json& value) {
  return value.is_number_integer() ? grouped(value.get<std::int64_t>()) : three_digits(value.get<double>());
}

// The run's own trace, wherever the run lies now; one that --trace put elsewhere, from where it was written. It must be
// of the same seed and device: a file of that name may have been replaced.
std::string trace_of(const fs::path& run, const Json& summary) {
  const fs::path named = summary.at("trace").get<std::string>();
  const fs::path inside = run / named.filename();
  const std::string path = fs::exists(inside) ? inside.string() : named.string();
  const TraceReader trace(path);
  const Json device = Json::parse(trace.header().device_json, nullptr, false);
  const bool same_device = device.is_object() && device.value("name", "") == summary.at("device").get<std::string>();
  if (trace.header().seed != summary.at("seed").get<std::uint64_t>() || !same_device) {
    throw data_error(path, "is the trace of another run than " + (run / "summary.json").string());
  }
  return path;
}

Report simulation_report(const fs::path& run) {
  const Json summary = json_of(run / "summary.json");
  if (summary.contains("compare")) {
    throw data_error(run.string(), "compares two devices; allowed: a run of one device, or of train");
  }
  const TraceReader trace(trace_of(run, summary));
  Report report;
  const auto device = summary.at("device").get<std::string>();
  const auto seed = std::to_string(summary.at("seed").get<std::int64_t>());
  report.seed = summary.at("seed");
  report.title = device + ": simulation, seed " + seed;
  report.subject = device + ", " + summary.at("block").get<std::string>() + " " +
                   std::to_string(summary.at("rows").get<std::int64_t>()) + " x " +
                   std::to_string(summary.at("columns").get<std::int64_t>()) + ", seed " + seed;
  report.table = {{"version", summary.at("version").get<std::string>()},
                  {"queries", number_text(summary.at("queries"))},
                  {"SNR", fixed(summary.at("snr_db").get<double>(), 2) + " dB, " +
                              fixed(summary.at("effective_bits").get<double>(), 2) + " effective bits"},
                  {"latency", number_text(summary.at("latency_ns").at("mean")) + " ns on average, 99 % below " +
                                  number_text(summary.at("latency_ns").at("p99")) + " ns"},
                  {"queries a second", three_digits(summary.at("queries_per_s").get<double>())},
                  {"energy a query", number_text(summary.at("energy_pj").at("per_query")) + " pJ"}};
  for (const auto& [unit, source] : summary.at("energy_sources").items()) {
    report.table.emplace_back("source of " + unit, source.get<std::string>());
  }
  report.plots = simulation_plots(summary, trace);
  return report;
}

Report training_report(const fs::path& run) {
  const std::vector<Json> log = log_of(run / "log.jsonl");
  if (log.empty() || log.front().value("event", "") != "header") {
    throw data_error((run / "log.jsonl").string(), "does not begin with a header");
  }
  const Json& header = log.front();
  const Json& config = header.at("config");
  Report report;
  const auto rule = config.at("rule").get<std::string>();
  report.subject = config.at("name").get<std::string>() + ", " + rule +
                   (rule == "bp" ? ""
                                 : " on " + config.at("physical").get<std::string>() + " blocks of " +
                                       config.at("device").get<std::string>()) +
                   ", seed " + std::to_string(config.at("seed").get<std::int64_t>());
  report.title = report.subject;
  report.seed = config.at("seed");
  report.table = {{"commit", header.value("commit", "unknown")},
                  {"parameters", number_text(header.at("parameters"))},
                  {"updates", number_text(log.back().at("step")) + " of " + number_text(header.at("total_steps"))},
                  {"tokens", number_text(log.back().at("tokens"))},
                  {"ln V", fixed(header.at("ln_vocab").get<double>(), 3)},
                  {"unigram entropy", fixed(header.at("unigram_entropy").get<double>(), 3)}};
  report.plots = training_plots(log);
  return report;
}

Report report_of(const fs::path& run) {
  if (!fs::is_directory(run)) throw data_error(run.string(), "is not a run directory");
  try {
    if (fs::exists(run / "log.jsonl")) return training_report(run);
    if (fs::exists(run / "summary.json")) return simulation_report(run);
  } catch (const Json::exception& error) {
    throw data_error(run.string(), std::string("its results are damaged or of another version: ") + error.what());
  }
  throw data_error(run.string(), "holds no finished simulation (summary.json) and no training run (log.jsonl)");
}

CommandResult run(const Invocation& invocation) {
  if (!invocation.has("run"))
    throw usage_error("a run directory is needed, as in 'zbphw report runs/train/quickstart-bp'");
  const fs::path run_directory = invocation.get<std::string>("run");
  const Report report = report_of(run_directory);
  const fs::path out = invocation.common.out ? fs::path(*invocation.common.out) : run_directory / "report";
  std::error_code failed;
  fs::create_directories(out, failed);
  if (failed || !fs::is_directory(out)) throw data_error(out.string(), "cannot be made a directory");
  CommandResult result;
  std::vector<PageSection> sections;
  for (const Plot& plot : report.plots) {
    PageSection section{plot.title, plot.script.empty() ? plot.instead : plot.caption, ""};
    if (section.caption.empty()) continue;
    if (!plot.script.empty()) {
      const std::string svg = (out / (plot.name + ".svg")).string();
      const std::string png = (out / (plot.name + ".png")).string();
      draw(plot, report.subject, PictureFormat::svg, svg);
      draw(plot, report.subject, PictureFormat::png, png);
      section.svg = content_of(svg);
      result.files.push_back(svg);
      result.files.push_back(png);
    }
    sections.push_back(section);
  }
  const std::string page = (out / "report.html").string();
  write_file_atomically(page, html_page(report.title, report.table, sections));
  result.files.insert(result.files.begin(), page);
  result.values["run"] = run_directory.string();
  result.values["seed"] = report.seed;
  result.text = report.title + "\n";
  return result;
}

Command report_command() {
  Command command;
  command.summary = "draw a run: pictures (SVG, PNG) and one HTML page";
  command.examples = {"zbphw report runs/simulate/pcm_crossbar",
                      "zbphw report runs/train/quickstart-zbp-noisy --out pictures"};
  // clang-format off
  command.options.add_options()
    ("run", option_value<std::string>("RUN"), "the run directory of a simulate or train; also without its name. "
                                              "--out: where the report goes (default: RUN/report)");
  // clang-format on
  command.positional.add("run", 1);
  command.run = run;
  return command;
}

const Registration<CommandFactory> registered("report", report_command);

}  // namespace
}  // namespace zbphw
