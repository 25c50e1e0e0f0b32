// `zbphw train`: trains a language model whose nonlinear cores are exact, or analog blocks that are only ever queried.
#include <cmath>
#include <cstdio>
#include <iomanip>
#include <sstream>

#include "base/config_kind.hpp"
#include "base/config_path.hpp"
#include "base/progress.hpp"
#include "experiments/command.hpp"
#include "experiments/environment.hpp"
#include "experiments/figures.hpp"
#include "experiments/plan.hpp"
#include "experiments/run_directory.hpp"
#include "training/cores_factory.hpp"
#include "training/trainer.hpp"

namespace zbphw {
namespace {

enum class Resume { automatic, never };

std::string config_path(const std::string& given) {
  const bool is_path = given.find('/') != std::string::npos || given.find('.') != std::string::npos;
  return is_path ? given : find_preset("train", given, "--config");
}

// The command's own options as overrides of the file, --set last.
std::vector<std::string> overrides_of(const Invocation& invocation) {
  std::vector<std::string> overrides;
  const std::pair<const char*, const char*> keys[] = {
      {"rule", "rule"}, {"physical", "physical"}, {"device", "device"}, {"model", "model"}, {"data", "data.path"}};
  for (const auto& [option, key] : keys) {
    const auto value = invocation.find<std::string>(option);
    // As a JSON text, so that a file name that looks like a number stays a name.
    if (value) overrides.push_back(std::string(key) + "=" + Json(*value).dump());
  }
  if (invocation.common.seed) overrides.push_back("seed=" + std::to_string(*invocation.common.seed));
  for (const std::string& own : invocation.common.overrides) overrides.push_back(own);
  return overrides;
}

TrainConfig read_config_of(const Invocation& invocation) {
  const auto steps = invocation.find<std::int64_t>("steps");
  const auto tokens = invocation.find<std::int64_t>("tokens");
  if (steps && tokens) throw usage_error("--steps and --tokens both give the budget; allowed: one of them");
  if (steps.value_or(1) < 1) throw usage_error("--steps: got " + std::to_string(*steps) + "; allowed: at least 1");
  if (tokens.value_or(1) < 1) throw usage_error("--tokens: got " + std::to_string(*tokens) + "; allowed: at least 1");
  TrainConfig config = load_train_config(config_path(invocation.get<std::string>("config")), overrides_of(invocation));
  if (steps) config.budget_tokens = *steps * config.tokens_per_update();
  if (tokens) config.budget_tokens = *tokens;
  return config;
}

Resume resume_of(const Invocation& invocation) {
  const std::string& text = invocation.get<std::string>("resume");
  if (text != "auto" && text != "never") throw usage_error("--resume: got '" + text + "'; allowed: auto or never");
  return text == "auto" ? Resume::automatic : Resume::never;
}

// Each arm of a comparison has a directory of its own.
std::string run_name(const TrainConfig& config) {
  std::string name = config.name + "-" + choice_text(config.rule);
  if (config.rule != LearningRule::bp) name += "-" + choice_text(config.physical);
  return name;
}

std::string shown(const Json& number, int digits) {
  return number.is_number() ? fixed(number.get<double>(), digits) : "-";
}

void add_row(std::ostringstream& out, const std::string& name, const std::vector<std::string>& cells) {
  out << "  " << std::left << std::setw(16) << name << std::right;
  for (const std::string& cell : cells) out << std::setw(12) << cell;
  out << "\n";
}

void add_losses(std::ostringstream& out, const TrainSummary& summary) {
  const Json& l = summary.losses;
  out << "loss, nats a token\n";
  add_row(out, "", {"before", "after", "best"});
  add_row(out, "training", {shown(l["initial"], 3), shown(l["final"], 3), shown(l["best"], 3)});
  add_row(out, "validation",
          {shown(l["validation_initial"], 3), shown(l["validation_final"], 3), shown(l["validation_best"], 3)});
  out << "  ln V " << fixed(summary.ln_vocab, 3) << "; unigram entropy " << fixed(summary.unigram_entropy, 3) << "\n";
}

// What analog cores have measured of themselves; nothing for exact ones.
void add_report(std::ostringstream& out, const Json& report) {
  if (report.empty()) return;
  out << "noise-to-signal ratio of the gradients through a kind of block\n";
  add_row(out, "", {"measured", "predicted", "c", "width", "probes"});
  for (const auto& [kind, nsr] : report.at("nsr").items()) {
    add_row(out, kind,
            {shown(nsr["measured"], 4), shown(nsr["predicted"], 4), shown(nsr["c"], 3), shown(nsr["width"], 1),
             shown(nsr["probes"], 0)});
  }
  out << grouped(report.at("queries").get<std::int64_t>()) << " queries, "
      << three_digits(report.at("chip_time_s").get<double>()) << " s of chip time, "
      << three_digits(report.at("chip_energy_j").get<double>()) << " J\n";
}

std::string result_text(const std::string& name, const TrainSummary& summary, const Json& report) {
  std::ostringstream out;
  out << name << ": " << grouped(summary.parameters) << " parameters, " << grouped(summary.steps) << " updates, "
      << grouped(summary.tokens) << " tokens in " << duration_text(summary.time_s) << "\n";
  add_losses(out, summary);
  add_report(out, report);
  if (summary.step_ms > 0) {
    out << fixed(summary.tokens_per_s, 0) << " tokens/s, " << fixed(summary.step_ms, 1) << " ms an update (median)\n";
  }
  if (summary.skips > 0) out << summary.skips << " updates were skipped; see the log\n";
  return out.str();
}

// News of the run on standard error: a line that is rewritten on a terminal, and one that stays for each validation.
class Reporter {
 public:
  Reporter(std::int64_t total_steps, bool quiet) : progress_("training", total_steps, quiet), quiet_(quiet) {}

  void step(const TrainProgress& p) {
    const double validation = p.validation_loss;
    if (validation != shown_validation_ && std::isfinite(validation)) {
      message("update " + std::to_string(p.step) + ": validation loss " + fixed(validation, 3));
      shown_validation_ = validation;
    }
    if (p.step == 0) return;
    progress_.update(p.step, "loss " + fixed(p.loss, 3) + "  " + fixed(p.tokens_per_s, 0) + " tokens/s");
  }

  void message(const std::string& text) {
    if (quiet_) return;
    progress_.clear();
    std::fprintf(stderr, "zbphw: %s\n", text.c_str());
  }

 private:
  Progress progress_;
  bool quiet_;
  double shown_validation_ = 0;
};

CommandResult dry_run(const TrainConfig& config, const Dataset& data, NonlinearCores& cores,
                      const std::string& directory) {
  const TrainPlan plan = measure_plan(config, data, cores);
  CommandResult result;
  result.values = {
      {"rule", choice_text(config.rule)}, {"physical", choice_text(config.physical)}, {"seed", config.seed}};
  result.values["plan"] = to_json(plan);
  result.text = plan_text(directory, config, plan);
  return result;
}

CommandResult run(const Invocation& invocation) {
  if (invocation.common.compute != Compute::cpu) throw usage_error("train: --compute: allowed so far: cpu");
  const Resume resume = resume_of(invocation);
  TrainConfig config = read_config_of(invocation);
  const Dataset data = load_dataset(config.data, config.model.context_tokens);
  config = complete_config(config, data);
  const std::unique_ptr<NonlinearCores> cores = make_cores(config);
  const std::string name = run_name(config);
  if (invocation.has("dry-run")) return dry_run(config, data, *cores, invocation.out_directory(name));
  const RunDirectory directory(invocation.out_directory(name), with_kind("train", write_config(config)),
                               invocation.common.force);
  Reporter reporter(config.total_steps(), invocation.common.quiet);

  TrainerOptions options;
  options.directory = directory.path();
  options.resume = resume == Resume::automatic;
  options.accept_changed_data = invocation.has("accept-changed-data");
  options.header = describe_environment();
  options.on_step = [&](const TrainProgress& progress) { reporter.step(progress); };
  options.on_message = [&](const std::string& text) { reporter.message(text); };
  Trainer trainer(config, data, *cores, options);
  const TrainSummary summary = trainer.run();
  const Json report = cores->report();

  CommandResult result;
  result.values = {
      {"rule", choice_text(config.rule)}, {"physical", choice_text(config.physical)}, {"seed", config.seed}};
  result.values.update(to_json(summary));
  result.values.update(report);
  result.out = directory.path();
  result.files = {directory.file("config.json"), directory.file("log.jsonl"), directory.file("checkpoints")};
  result.text = result_text(name, summary, report);
  return result;
}

Command train_command() {
  Command command;
  command.summary = "train a language model through analog blocks, or exactly";
  command.examples = {"zbphw train --physical noisy", "zbphw train --rule bp --steps 200 --out runs/try",
                      "zbphw train --data my_text.txt --set batch.sequences=32 --json",
                      "zbphw train --physical noisy --tokens 5000000 --dry-run"};
  // clang-format off
  command.options.add_options()
    ("config", option_value<std::string>("FILE")->default_value("quickstart"),
     "a train configuration, or the name of a shipped one")
    ("rule", option_value<std::string>("RULE"), "where the cores' gradients come from: bp (exact) or zbp (queries)")
    ("physical", option_value<std::string>("FIDELITY"), "how blocks are simulated: ideal, noisy, or systemc (noisy, in "
                                             "one chip's time)")
    ("device", option_value<std::string>("FILE"), "the analog device, or the name of a shipped one")
    ("model", option_value<std::string>("FILE"), "the model, or the name of a shipped one")
    ("data", option_value<std::string>("FILE"), "the text to learn, plain or gzip")
    ("steps", option_value<std::int64_t>("N"), "updates to train for")
    ("tokens", option_value<std::int64_t>("N"), "tokens to train on")
    ("resume", option_value<std::string>("WHEN")->default_value("auto"),
     "auto: continue an earlier run in the same directory; never: refuse one")
    ("dry-run", "print the plan and what a few updates take here; write no run directory")
    ("accept-changed-data", "continue although the text is not the one that the run began with");
  // clang-format on
  command.run = run;
  return command;
}

const Registration<CommandFactory> registered("train", train_command);

}  // namespace
}  // namespace zbphw
