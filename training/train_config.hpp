// What a training run is: everything that decides its result, in one description.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "hw/block_config.hpp"
#include "training/data/dataset.hpp"
#include "training/guard.hpp"
#include "training/model_config.hpp"
#include "training/optimizer.hpp"
#include "training/schedule.hpp"
#include "training/zbp_config.hpp"

namespace zbphw {

// Where gradients of the nonlinear cores come from: backpropagation or zeroth-order probes.
enum class LearningRule { bp, zbp };

template <>
struct Choices<LearningRule> {
  static std::vector<std::pair<LearningRule, std::string>> all() {
    return {{LearningRule::bp, "bp"}, {LearningRule::zbp, "zbp"}};
  }
};

struct BatchConfig {
  std::int64_t sequences = 16;           // B, of one update
  std::int64_t sequences_per_pass = 16;  // how many of them go through the model at once
};

struct ValidationConfig {
  std::int64_t every_steps = 100;
  std::int64_t at_most_tokens = 16384;
};

struct CheckpointConfig {
  std::int64_t every_steps = 100;
  std::int64_t keep = 2;
};

struct TrainConfig {
  std::string name = "train";  // of the run: its default directory
  std::int64_t seed = 1;
  LearningRule rule = LearningRule::bp;
  Fidelity physical = Fidelity::noisy;  // of the blocks; the rule bp uses none
  std::string device = "default";       // a device file, or the name of a shipped one
  ModelConfig model;
  DataConfig data;
  BatchConfig batch;
  std::int64_t budget_tokens = 0;  // to train on; the last update takes what is left of them
  OptimizerConfig optimizer;
  ScheduleConfig schedule;
  double clip_norm = 1;
  ValidationConfig validation;
  CheckpointConfig checkpoint;
  GuardConfig guard;
  ZbpConfig zbp;

  std::int64_t tokens_per_update() const { return batch.sequences * model.context_tokens; }
  // Updates that the budget takes: the last may be a part of one.
  std::int64_t total_steps() const { return (budget_tokens + tokens_per_update() - 1) / tokens_per_update(); }
};

void describe(Fields& f, BatchConfig& c);
void describe(Fields& f, ValidationConfig& c);
void describe(Fields& f, CheckpointConfig& c);
void describe(Fields& f, TrainConfig& c);

// Puts the model's own file in the place of a name: "model" may be an object, an object with "preset" (a file of
// configs/models, the other keys laid over it), or a text: such a name, or the path of a .json file.
// Throws a config Error at `where`.
void expand_model(Json& train, const std::string& where);

// Reads a file of kind "train", overrides applied, the model expanded. Throws a config Error.
TrainConfig load_train_config(const std::string& path, const std::vector<std::string>& overrides = {});

}  // namespace zbphw
