// The shape of the language model: an OLMo2-style decoder (OLMo team, "2 OLMo 2 Furious", arXiv:2501.00656).
//
// The BP twin, the ZBP arm and the EP block share it, so that they have the same parameters, count and initial values.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "base/fields.hpp"

namespace zbphw {

// Where the RMSNorm of a branch stands: after it (OLMo2: h = x + RMSNorm(Attn(x))) or before it (h = x +
// Attn(RMSNorm(x))).
enum class NormPlacement { post, pre };

// How a token knows its place: rotated queries and keys (Su et al. 2021, arXiv:2104.09864) or a learned table (GPT-2).
enum class Positions { rope, learned };

template <>
struct Choices<NormPlacement> {
  static std::vector<std::pair<NormPlacement, std::string>> all() {
    return {{NormPlacement::post, "post"}, {NormPlacement::pre, "pre"}};
  }
};

template <>
struct Choices<Positions> {
  static std::vector<std::pair<Positions, std::string>> all() {
    return {{Positions::rope, "rope"}, {Positions::learned, "learned"}};
  }
};

struct ModelConfig {
  std::int64_t layers = 4;            // L
  std::int64_t width = 128;           // C
  std::int64_t heads = 4;             // H
  std::int64_t ffn_multiple_of = 64;  // m
  std::int64_t vocab = 0;             // V; 0: as many as the tokenizer of the data has
  std::int64_t context_tokens = 64;   // T
  NormPlacement norm_placement = NormPlacement::post;
  Positions positions = Positions::rope;
  double rope_theta = 500000;
  double init_std = 0.02;
  double embedding_init_std = 0.02;
  double initial_post_norm_gain = 1;

  std::int64_t head_width() const { return width / heads; }
  // F = m ceil(8 C / (3 m)): the hidden width of a SwiGLU layer with about the parameters of a 4 C layer without gate.
  std::int64_t ffn_width() const;
};

void describe(Fields& f, ModelConfig& c);

// N = 2 V C + L (4 C^2 + 3 C F + 4 C) + C, and T C more with learned positions: what model.hpp allocates.
std::int64_t parameter_count(const ModelConfig& c);

}  // namespace zbphw
