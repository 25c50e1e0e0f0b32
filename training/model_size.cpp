#include "training/model_size.hpp"

namespace zbphw {
namespace {

constexpr std::int64_t float_bytes = 4;

std::int64_t hidden_matrix_parameters(const ModelConfig& c) {
  return c.layers * (4 * c.width * c.width + 3 * c.width * c.ffn_width());
}

}  // namespace

std::vector<ModelPart> model_parts(const ModelConfig& c) {
  std::vector<ModelPart> parts = {{"token embedding", 1, c.vocab * c.width}};
  if (c.positions == Positions::learned) parts.push_back({"position embedding", 1, c.context_tokens * c.width});
  parts.push_back({"attention: query, key, value, output", c.layers, 4 * c.width * c.width});
  parts.push_back({"SwiGLU: gate, up, down", c.layers, 3 * c.width * c.ffn_width()});
  parts.push_back({"norm gains: query, key, two branches", c.layers, 4 * c.width});
  parts.push_back({"final norm gain", 1, c.width});
  parts.push_back({"head", 1, c.vocab * c.width});
  return parts;
}

std::int64_t forward_operations_per_token(const ModelConfig& c) {
  const std::int64_t projections = 8 * c.width * c.width;
  const std::int64_t ffn = 6 * c.width * c.ffn_width();
  const std::int64_t scores_and_mixing = 4 * c.context_tokens * c.width;
  return c.layers * (projections + ffn + scores_and_mixing) + 2 * c.vocab * c.width;
}

TrainingStateBytes training_state_bytes(const ModelConfig& c) {
  const std::int64_t parameters = parameter_count(c);
  TrainingStateBytes bytes;
  bytes.weights = float_bytes * parameters;
  bytes.gradients = float_bytes * parameters;
  bytes.optimiser_adamw = 2 * float_bytes * parameters;
  bytes.optimiser_muon = bytes.optimiser_adamw - float_bytes * hidden_matrix_parameters(c);
  return bytes;
}

}  // namespace zbphw
