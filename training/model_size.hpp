// What a model costs by its shape alone: parameters by part, memory of training state, operations a token.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "training/model_config.hpp"

namespace zbphw {

struct ModelPart {
  std::string name;             // "attention"
  std::int64_t copies = 1;      // how many of it the model has: one, or one a layer
  std::int64_t parameters = 0;  // of one copy
};

// Every parameter once: the sum over parts of copies times parameters is parameter_count().
std::vector<ModelPart> model_parts(const ModelConfig& c);

// Floating-point operations of a forward pass, for each token of a full context: L (8 C^2 + 6 C F + 4 T C) + 2 V C, a
// multiplication and an addition counted as two. Norms, rotations and nonlinear functions are left out. Training by
// backpropagation takes three times that.
std::int64_t forward_operations_per_token(const ModelConfig& c);

// Bytes of fp32 training state. A Muon hybrid keeps one moment of a hidden matrix where AdamW keeps two.
struct TrainingStateBytes {
  std::int64_t weights = 0;
  std::int64_t gradients = 0;
  std::int64_t optimiser_adamw = 0;
  std::int64_t optimiser_muon = 0;
};
TrainingStateBytes training_state_bytes(const ModelConfig& c);

}  // namespace zbphw
