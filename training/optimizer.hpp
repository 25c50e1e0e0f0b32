// Update rules: what turns gradients into new weights.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "training/model.hpp"
#include "training/safetensors.hpp"

namespace zbphw {

struct AdamWConfig {
  double learning_rate = 1e-3;  // the peak; the schedule scales it
  double beta1 = 0.9;
  double beta2 = 0.95;
  double epsilon = 1e-8;
  double weight_decay = 0.1;
};

struct MuonConfig {
  double learning_rate = 0.02;  // the peak; the schedule scales it
  double momentum = 0.95;
  double weight_decay = 0.1;
  std::int64_t iteration_steps = 5;
  std::vector<double> coefficients = {3.4445, -4.7750, 2.0315};
};

struct OptimizerConfig {
  AdamWConfig adamw;
  std::optional<MuonConfig> muon;  // when present, it updates the hidden matrices and AdamW the rest
};

void describe(Fields& f, AdamWConfig& c);
void describe(Fields& f, MuonConfig& c);
void describe(Fields& f, OptimizerConfig& c);

class Optimizer {
 public:
  virtual ~Optimizer() = default;

  // Changes the parameters by their gradients. `update` counts from 1; the learning rate is the peak times
  // `learning_rate_factor`. Every parameter must have a gradient.
  virtual void step(std::int64_t update, double learning_rate_factor) = 0;

  // The optimiser's own tensors under unique names, in a fixed order: with the parameters and the number of the update,
  // all that a checkpoint needs. A caller restores by copying into them.
  virtual NamedTensors state() const = 0;
};

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config, const std::vector<NamedParameter>& parameters);

// Removes every gradient, so that the next backward pass starts from none.
void clear_gradients(const std::vector<NamedParameter>& parameters);

// The Euclidean norm of all gradients together.
double gradient_norm(const std::vector<NamedParameter>& parameters);

// Scales all gradients by the same factor, so that a norm above `largest` becomes `largest`. `norm` is their present
// norm.
void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double largest);

}  // namespace zbphw
