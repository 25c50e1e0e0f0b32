#include "training/model_config.hpp"

namespace zbphw {

std::int64_t ModelConfig::ffn_width() const {
  const std::int64_t unit = 3 * ffn_multiple_of;
  return ffn_multiple_of * ((8 * width + unit - 1) / unit);
}

void describe(Fields& f, ModelConfig& c) {
  f.required().integer("layers", c.layers, between(1, 1000), "number of decoder blocks L");
  f.required().integer("width", c.width, between(2, 65536), "width of the residual stream C");
  f.required().integer("heads", c.heads, between(1, 1024), "attention heads H; a head is width / heads wide");
  f.integer("ffn_multiple_of", c.ffn_multiple_of, between(1, 65536),
            "m: the SwiGLU's hidden width is 8 C / 3 rounded up to a multiple of it");
  f.integer("vocab", c.vocab, between(0, 1 << 24), "token kinds V; 0 takes the number from the data's tokenizer");
  f.required().integer("context_tokens", c.context_tokens, between(1, 1 << 20), "tokens of one sequence T");
  f.choice("norm_placement", c.norm_placement, "whether a branch is normalised after it (OLMo2) or before it");
  f.choice("positions", c.positions, "rotary or learned positions");
  f.number("rope_theta", c.rope_theta, above(0), "base of the rotary wavelengths");
  f.number("init_std", c.init_std, above(0), "standard deviation of initial matrices, cut at 3 deviations");
  f.number("embedding_init_std", c.embedding_init_std, above(0),
           "standard deviation of initial token embeddings, cut at 3 deviations; 1 gives embeddings of unit RMS");
  f.number("initial_post_norm_gain", c.initial_post_norm_gain, above(0),
           "initial gain of the norms after the branches; below 1 the branches start small");
  f.require(c.width % c.heads == 0, "heads", "must divide width " + std::to_string(c.width));
  f.require(c.positions != Positions::rope || c.head_width() % 2 == 0, "heads",
            "rotary positions need an even head width, not " + std::to_string(c.head_width()));
  f.require(c.norm_placement == NormPlacement::post || c.initial_post_norm_gain == 1, "initial_post_norm_gain",
            "only norms placed \"post\" have it");
}

std::int64_t parameter_count(const ModelConfig& c) {
  const std::int64_t attention = 4 * c.width * c.width;          // W_q, W_k, W_v, W_o
  const std::int64_t ffn = 3 * c.width * c.ffn_width();          // W_gate, W_up, W_down
  const std::int64_t gains = 4 * c.width;                        // of q, k and the two branches
  const std::int64_t outside = 2 * c.vocab * c.width + c.width;  // embedding, untied head, final norm
  const std::int64_t learned = c.positions == Positions::learned ? c.context_tokens * c.width : 0;
  return outside + learned + c.layers * (attention + ffn + gains);
}

}  // namespace zbphw
