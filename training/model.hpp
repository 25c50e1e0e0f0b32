// The language model: named parameter tensors and a forward pass.
//
//     h = x + RMSNorm(Attn(x));   out = h + RMSNorm(SwiGLU(h));   final RMSNorm; untied head; no biases
//     q = RMSNorm(W_q x), k = RMSNorm(W_k x) over the full projected vector, before the head split and the rotation
//
// (OLMo2's block; ModelConfig chooses other placements and positions.) The two nonlinear parts, causal softmax and
// SwiGLU, belong to the NonlinearCores that the caller passes.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "training/digital_ops.hpp"
#include "training/model_config.hpp"
#include "training/nonlinear_cores.hpp"

namespace zbphw {

struct LayerParameters {
  at::Tensor query, key, value, output;  // W_q, W_k, W_v, W_o [C, C]
  at::Tensor query_gain, key_gain;       // [C]
  at::Tensor attention_gain;             // [C], of the norm after (or before) the attention
  at::Tensor gate, up;                   // W_gate, W_up [F, C]
  at::Tensor down;                       // W_down [C, F]
  at::Tensor ffn_gain;                   // [C], of the norm after (or before) the SwiGLU layer
};

// What a parameter is to an optimiser: weight decay and Muon look at it.
enum class ParameterRole { embedding, hidden_matrix, head, gain };

struct NamedParameter {
  std::string name;  // "layers.3.query": the key in a checkpoint
  at::Tensor tensor;
  ParameterRole role;
};

class Model {
 public:
  // Initial values are functions of (seed, parameter's place in parameters(), element). Throws a config Error when
  // config.vocab is 0.
  Model(const ModelConfig& config, std::uint64_t seed, at::ScalarType type = at::kFloat);

  // tokens [B, T] (int64, T <= context_tokens) -> logits [B, T, V]
  at::Tensor forward(const at::Tensor& tokens, NonlinearCores& cores) const;

  const ModelConfig& config() const { return config_; }

  // Every parameter once, in a fixed order; the tensors are the model's own.
  std::vector<NamedParameter> parameters() const;

 private:
  at::Tensor attention(const at::Tensor& x, const LayerParameters& layer, std::int64_t index,
                       NonlinearCores& cores) const;
  at::Tensor feed_forward(const at::Tensor& x, const LayerParameters& layer, std::int64_t index,
                          NonlinearCores& cores) const;

  ModelConfig config_;
  at::Tensor embedding_;  // [V, C]
  at::Tensor places_;     // [T, C], undefined with rotary positions
  std::vector<LayerParameters> layers_;
  at::Tensor final_gain_;  // [C]
  at::Tensor head_;        // [V, C]
  RotaryTable rotary_;
};

}  // namespace zbphw
