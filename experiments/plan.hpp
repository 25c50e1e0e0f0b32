// What a training run will take, before it is started: `zbphw train --dry-run`.
#pragma once

#include <cstdint>
#include <string>

#include "base/json.hpp"
#include "training/data/dataset.hpp"
#include "training/nonlinear_cores.hpp"
#include "training/train_config.hpp"

namespace zbphw {

struct TrainPlan {
  std::int64_t parameters = 0;
  std::int64_t tokens = 0;
  std::int64_t updates = 0;
  std::int64_t validations = 0;
  std::int64_t checkpoints = 0;
  double passes_over_data = 0;   // tokens to train on, of those that the data have
  double update_s = 0;           // measured: the median of a few updates
  double validation_s = 0;       // measured
  std::int64_t peak_memory = 0;  // bytes; measured over the same updates, the whole process

  // Checkpoints are left out: they take what the disk takes.
  double total_s() const {
    return static_cast<double>(updates) * update_s + static_cast<double>(validations) * validation_s;
  }
};

// Trains for a few updates in a temporary directory, which is removed. `config` must be complete. `cores` and the
// process's peak memory are used up by it: what follows is the end of the command.
TrainPlan measure_plan(const TrainConfig& config, const Dataset& data, NonlinearCores& cores);

Json to_json(const TrainPlan& plan);
std::string plan_text(const std::string& directory, const TrainConfig& config, const TrainPlan& plan);

}  // namespace zbphw
