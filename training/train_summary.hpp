// What a run has reached: the numbers of its summary.
#pragma once

#include <cstdint>
#include <deque>

#include "base/json.hpp"

namespace zbphw {

// Losses so far, nats a token. Not finite where there is none yet.
class LossRecord {
 public:
  LossRecord();

  void add_train(double loss);
  void add_validation(double loss);

  // "initial", "final", "best", "tail_median" (of the last 100 updates), and the first three of "validation_".
  Json values() const;
  double last_train() const { return train_.final; }
  double last_validation() const { return validation_.final; }

  // For checkpoints.
  Json state() const;
  void restore(const Json& state);

 private:
  struct Series {
    double initial, final, best;
    void add(double loss);
  };

  Series train_;
  Series validation_;
  std::deque<double> tail_;
};

// NOLINTNEXTLINE(bugprone-exception-escape): Json moves without throwing, which the check does not see
struct TrainSummary {
  std::int64_t parameters = 0;
  std::int64_t steps = 0;
  std::int64_t tokens = 0;
  Json losses;
  double ln_vocab = 0;            // the loss of a model that knows nothing
  double unigram_entropy = 0;     // of one that knows how often each token comes
  double tokens_per_s = 0;        // of a median update of this start
  double step_ms = 0;             // the median
  double time_s = 0;              // over all starts
  std::int64_t skips = 0;         // updates that were not applied
  std::int64_t guard_events = 0;  // of them, those whose loss or gradient was finite and jumped
};

// The keys of `zbphw train --json` that the trainer knows.
Json to_json(const TrainSummary& summary);

}  // namespace zbphw
