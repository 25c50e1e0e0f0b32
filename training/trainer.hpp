// The training loop: the same for every learning rule, physical fidelity and device.
//
// A run is a directory: log.jsonl, checkpoints/. Whatever is drawn at random is addressed by seed and step, so a run
// that was killed at any moment continues from its newest checkpoint to the same weights and the same log, bit for bit,
// when it has the same number of threads (apart from time_s, the measured time).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "training/data/batches.hpp"
#include "training/data/dataset.hpp"
#include "training/guard.hpp"
#include "training/model.hpp"
#include "training/nonlinear_cores.hpp"
#include "training/optimizer.hpp"
#include "training/run_log.hpp"
#include "training/stopwatch.hpp"
#include "training/train_config.hpp"
#include "training/train_summary.hpp"

namespace zbphw {

// What is shown while a run goes on.
struct TrainProgress {
  std::int64_t step = 0;
  std::int64_t total_steps = 0;
  double loss = 0;             // of the last update; not finite before the first
  double validation_loss = 0;  // the newest
  double tokens_per_s = 0;     // over the last updates
};

struct TrainerOptions {
  std::string directory;             // of the run; must exist
  bool resume = true;                // from the newest good checkpoint in it, if there is one
  bool accept_changed_data = false;  // resume although the data are not those of the checkpoint
  Json header = Json::object();      // further fields of the log's first line
  std::function<void(const TrainProgress&)> on_step = [](const TrainProgress&) {};
  std::function<void(const std::string&)> on_message = [](const std::string&) {};
  std::function<bool()> stop_requested = interrupt_requested;
};

// `config` with everything decided: the model's vocabulary, when it is 0, is that of the data. Throws a config Error
// when the model has fewer token kinds than the data.
TrainConfig complete_config(TrainConfig config, const Dataset& data);

class Trainer {
 public:
  // `config` need not be complete. `data` and `cores` must outlive the trainer.
  Trainer(TrainConfig config, const Dataset& data, NonlinearCores& cores, TrainerOptions options);

  // Trains to the end of the budget. Throws
  // - a numerical Error when too many updates in a row had to be skipped;
  // - an interrupted Error after stop_requested(), with a checkpoint saved;
  // - a data Error when something cannot be read or written.
  TrainSummary run();

  const Model& model() const { return model_; }
  const TrainConfig& config() const { return config_; }

 private:
  void start();
  bool resume();
  void open_log(std::int64_t kept_steps);
  void train_step();
  double forward_backward(std::int64_t update_tokens);
  void log_update(double loss, double rate, double norm, const std::string& skipped_because);
  void stop_when_hopeless(const std::string& skipped_because);
  void validate();
  void tell_progress();
  void save();
  void finish_step();
  double ln_vocab() const;
  TrainSummary summary() const;

  TrainConfig config_;
  const Dataset& data_;
  NonlinearCores& cores_;
  TrainerOptions options_;
  Model model_;
  std::vector<NamedParameter> parameters_;
  std::unique_ptr<Optimizer> optimizer_;
  TrainBatches batches_;
  ValidationBatches validation_batches_;
  Guard guard_;
  RunPosition position_;
  LossRecord losses_;
  Stopwatch stopwatch_;
  std::unique_ptr<RunLog> log_;
};

}  // namespace zbphw
