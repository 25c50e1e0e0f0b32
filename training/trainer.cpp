#include "training/trainer.hpp"

#include <ATen/TensorOperators.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <utility>

#include "base/error.hpp"
#include "training/checkpoint.hpp"
#include "training/digital_ops.hpp"

namespace zbphw {
namespace {

constexpr std::int64_t before_any_step = -1;  // keeps no line of an older log
constexpr std::size_t shown_laps = 20;        // updates that the displayed speed is the mean of

// Of the row-major tokens of one pass, only the first `used` count: targets beyond are left out of the loss.
void mask_targets(const at::Tensor& targets, std::int64_t used) {
  const std::int64_t rest = targets.numel() - used;
  if (rest > 0) targets.view({-1}).narrow(0, used, rest).fill_(ignored_target);
}

NamedTensors tensors_of(const std::vector<NamedParameter>& parameters) {
  NamedTensors tensors;
  for (const NamedParameter& p : parameters) tensors.emplace_back(p.name, p.tensor);
  return tensors;
}

}  // namespace

TrainConfig complete_config(TrainConfig config, const Dataset& data) {
  const std::int64_t vocab = data.tokenizer.vocab();
  if (config.model.vocab == 0) config.model.vocab = vocab;
  if (config.model.vocab < vocab) {
    throw config_error("model.vocab", "got " + std::to_string(config.model.vocab) + "; allowed: at least " +
                                          std::to_string(vocab) + ", the token kinds of the data, or 0 for just those");
  }
  return config;
}

Trainer::Trainer(TrainConfig config, const Dataset& data, NonlinearCores& cores, TrainerOptions options)
    : config_(complete_config(std::move(config), data)),
      data_(data),
      cores_(cores),
      options_(std::move(options)),
      model_(config_.model, static_cast<std::uint64_t>(config_.seed)),
      parameters_(model_.parameters()),
      optimizer_(make_optimizer(config_.optimizer, parameters_)),
      batches_(data.train, config_.model.context_tokens, static_cast<std::uint64_t>(config_.seed)),
      validation_batches_(data.validation, config_.model.context_tokens, config_.batch.sequences_per_pass,
                          config_.validation.at_most_tokens),
      guard_(config_.guard) {}

TrainSummary Trainer::run() {
  if (!options_.resume || !resume()) start();
  const std::int64_t total = config_.total_steps();
  while (position_.step < total) {
    stopwatch_.begin_lap();
    train_step();
    stopwatch_.end_lap();
    finish_step();
  }
  return summary();
}

void Trainer::start() {
  if (!committed_checkpoints(options_.directory + "/checkpoints").empty()) {
    throw data_error(options_.directory, "holds checkpoints of an earlier run; resume it, or choose another directory");
  }
  stopwatch_.start(0);
  open_log(before_any_step);
  validate();
  tell_progress();
}

// One update, as a recipe.
void Trainer::train_step() {
  const std::int64_t update_tokens = std::min(config_.tokens_per_update(), config_.budget_tokens - position_.tokens);
  clear_gradients(parameters_);
  const double loss = forward_backward(update_tokens);
  const double norm = gradient_norm(parameters_);
  const double rate = learning_rate_factor(config_.schedule, position_.step, config_.total_steps());
  const std::string skipped_because = guard_.look(loss, norm);
  position_.step += 1;
  position_.tokens += update_tokens;
  if (skipped_because.empty()) {
    clip_gradients(parameters_, norm, config_.clip_norm);
    optimizer_->step(position_.step - guard_.skips(), rate);
    losses_.add_train(loss);
  }
  log_update(loss, rate, norm, skipped_because);
  stop_when_hopeless(skipped_because);
}

void Trainer::log_update(double loss, double rate, double norm, const std::string& skipped_because) {
  position_.time_s = stopwatch_.total_s();
  log_->write("train", position_,
              {{"loss", loss}, {"lr", rate * config_.optimizer.adamw.learning_rate}, {"grad_norm", norm}});
  if (!skipped_because.empty()) log_->write("skip", position_, {{"reason", skipped_because}});
}

void Trainer::stop_when_hopeless(const std::string& skipped_because) {
  if (!guard_.should_abort()) return;
  log_->write("guard", position_, {{"reason", skipped_because}, {"skips_in_a_row", guard_.skips_in_a_row()}});
  throw numerical_error("update " + std::to_string(position_.step),
                        std::to_string(guard_.skips_in_a_row()) + " updates in a row were skipped, at last because " +
                            skipped_because + "; a smaller optimizer.adamw.learning_rate may help");
}

// The mean loss over the update's tokens; leaves its gradient in the parameters. Each pass adds its share of the sum,
// so that the number of passes changes nothing.
double Trainer::forward_backward(std::int64_t update_tokens) {
  const std::int64_t per_pass = config_.batch.sequences_per_pass;
  double sum = 0;
  for (std::int64_t row = 0; row < config_.batch.sequences; row += per_pass) {
    const std::int64_t rows = std::min(per_pass, config_.batch.sequences - row);
    const std::int64_t used = update_tokens - row * config_.model.context_tokens;
    if (used <= 0) break;
    const Batch batch = batches_.rows(position_.step, row, rows);
    mask_targets(batch.targets, used);
    cores_.begin_pass({position_.step, Phase::train, row});
    const at::Tensor loss = cross_entropy_sum(model_.forward(batch.tokens, cores_), batch.targets);
    (loss / static_cast<double>(update_tokens)).backward();
    sum += loss.item<double>();
  }
  return sum / static_cast<double>(update_tokens);
}

void Trainer::validate() {
  const at::NoGradGuard values_only;
  double sum = 0;
  for (std::int64_t i = 0; i < validation_batches_.count(); ++i) {
    const Batch batch = validation_batches_.at(i);
    cores_.begin_pass({position_.step, Phase::validation, i * config_.batch.sequences_per_pass});
    sum += cross_entropy_sum(model_.forward(batch.tokens, cores_), batch.targets).item<double>();
  }
  const double loss = sum / static_cast<double>(validation_batches_.tokens());
  losses_.add_validation(loss);
  position_.time_s = stopwatch_.total_s();
  log_->write("validation", position_, {{"loss", loss}});
  const Json report = cores_.report();
  if (!report.empty()) log_->write("audit", position_, report);
}

// What follows an update: validation, checkpoint, news, and the wish to stop.
void Trainer::finish_step() {
  const bool last = position_.step == config_.total_steps();
  const auto due = [&](std::int64_t every) { return last || position_.step % every == 0; };
  if (due(config_.validation.every_steps)) validate();
  if (last) log_->write("done", position_, losses_.values());
  const bool checkpoint_due = due(config_.checkpoint.every_steps);
  if (checkpoint_due) save();
  tell_progress();
  if (!last && options_.stop_requested()) {
    if (!checkpoint_due) save();
    throw Error(ErrorKind::interrupted, options_.directory,
                "stopped after update " + std::to_string(position_.step) + " of " +
                    std::to_string(config_.total_steps()) + "; saved, and the same command continues");
  }
}

void Trainer::tell_progress() {
  const double lap_s = stopwatch_.recent_lap_s(shown_laps);
  const double tokens_per_s = lap_s > 0 ? static_cast<double>(config_.tokens_per_update()) / lap_s : 0;
  options_.on_step(
      {position_.step, config_.total_steps(), losses_.last_train(), losses_.last_validation(), tokens_per_s});
}

void Trainer::save() {
  const std::string directory = options_.directory + "/checkpoints";
  // The log comes first: lines that a crash leaves beyond the newest checkpoint are cut off again, missing ones would
  // be lost.
  log_->write("checkpoint", position_, Json::object());
  log_->sync();
  Checkpoint checkpoint;
  checkpoint.step = position_.step;
  checkpoint.model = tensors_of(parameters_);
  checkpoint.optimizer = optimizer_->state();
  checkpoint.state = {{"tokens", position_.tokens},
                      {"time_s", position_.time_s},
                      {"data_fingerprint", data_.fingerprint},
                      {"model", write_config(config_.model)},
                      {"losses", losses_.state()},
                      {"guard", guard_.state()},
                      {"cores", cores_.state()}};
  save_checkpoint(directory, checkpoint);
  prune_checkpoints(directory, config_.checkpoint.keep);
}

// Continues from the newest good checkpoint, if there is one.
bool Trainer::resume() {
  const std::optional<Checkpoint> checkpoint =
      load_newest_checkpoint(options_.directory + "/checkpoints", options_.on_message);
  if (!checkpoint) return false;
  const Json& state = checkpoint->state;
  if (state.at("data_fingerprint") != data_.fingerprint && !options_.accept_changed_data) {
    throw data_error(config_.data.path, "is not the text that the run in " + options_.directory + " was trained on");
  }
  copy_tensors(checkpoint->model, tensors_of(parameters_), options_.directory + ": the checkpoint's model");
  copy_tensors(checkpoint->optimizer, optimizer_->state(), options_.directory + ": the checkpoint's optimiser");
  position_ = {checkpoint->step, state.at("tokens").get<std::int64_t>(), state.at("time_s").get<double>()};
  losses_.restore(state.at("losses"));
  guard_.restore(state.at("guard"));
  cores_.restore(state.at("cores"));
  stopwatch_.start(position_.time_s);
  open_log(position_.step);
  options_.on_message("continues after update " + std::to_string(position_.step));
  return true;
}

void Trainer::open_log(std::int64_t kept_steps) {
  const std::string path = options_.directory + "/log.jsonl";
  const bool has_header = truncate_log(path, kept_steps);
  log_ = std::make_unique<RunLog>(path);
  if (has_header) return;
  Json header = {{"config", write_config(config_)},
                 {"parameters", parameter_count(config_.model)},
                 {"total_steps", config_.total_steps()},
                 {"data_fingerprint", data_.fingerprint},
                 {"ln_vocab", ln_vocab()},
                 {"unigram_entropy", data_.unigram_entropy}};
  header.update(options_.header);
  log_->write("header", position_, header);
}

double Trainer::ln_vocab() const { return std::log(static_cast<double>(config_.model.vocab)); }

TrainSummary Trainer::summary() const {
  TrainSummary s;
  s.parameters = parameter_count(config_.model);
  s.steps = position_.step;
  s.tokens = position_.tokens;
  s.losses = losses_.values();
  s.ln_vocab = ln_vocab();
  s.unigram_entropy = data_.unigram_entropy;
  s.step_ms = 1000 * stopwatch_.median_lap_s();
  s.tokens_per_s = s.step_ms > 0 ? 1000 * static_cast<double>(config_.tokens_per_update()) / s.step_ms : 0;
  s.time_s = position_.time_s;
  s.skips = guard_.skips();
  s.guard_events = guard_.jumps_skipped();
  return s;
}

}  // namespace zbphw
