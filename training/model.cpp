#include "training/model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/embedding.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/full.h>

#include <cmath>

#include "base/error.hpp"
#include "training/random_fill.hpp"

namespace zbphw {
namespace {

constexpr double norm_epsilon = 1e-6;
constexpr double init_bound = 3;  // initial values are cut at this many standard deviations

// Makes parameters one after the other; each has its own block of random numbers.
class Initialiser {
 public:
  Initialiser(std::uint64_t seed, at::ScalarType type) : seed_(seed), options_(at::TensorOptions().dtype(type)) {}

  at::Tensor normal(std::int64_t rows, std::int64_t columns, double std) {
    const at::Tensor tensor = at::empty({rows, columns}, options_);
    fill_truncated_normal(tensor, RandomAt(seed_, stream_id("initial weights"), 0, next_block_++), std, init_bound);
    return tensor.requires_grad_();
  }

  at::Tensor gain(std::int64_t width, double value) { return at::full({width}, value, options_).requires_grad_(); }

 private:
  std::uint64_t seed_;
  at::TensorOptions options_;
  std::uint32_t next_block_ = 0;
};

LayerParameters initial_layer(const ModelConfig& c, Initialiser& init) {
  LayerParameters layer;
  layer.query = init.normal(c.width, c.width, c.init_std);
  layer.key = init.normal(c.width, c.width, c.init_std);
  layer.value = init.normal(c.width, c.width, c.init_std);
  layer.output = init.normal(c.width, c.width, c.init_std);
  layer.query_gain = init.gain(c.width, 1);
  layer.key_gain = init.gain(c.width, 1);
  layer.attention_gain = init.gain(c.width, c.initial_post_norm_gain);
  layer.gate = init.normal(c.ffn_width(), c.width, c.init_std);
  layer.up = init.normal(c.ffn_width(), c.width, c.init_std);
  layer.down = init.normal(c.width, c.ffn_width(), c.init_std);
  layer.ffn_gain = init.gain(c.width, c.initial_post_norm_gain);
  return layer;
}

}  // namespace

Model::Model(const ModelConfig& config, std::uint64_t seed, at::ScalarType type) : config_(config) {
  if (config.vocab < 1) throw config_error("model.vocab", "is not known: neither the config nor a tokenizer gave it");
  Initialiser init(seed, type);
  embedding_ = init.normal(config.vocab, config.width, config.embedding_init_std);
  if (config.positions == Positions::learned) {
    places_ = init.normal(config.context_tokens, config.width, config.init_std);
  } else {
    const at::ScalarType angle_type = type == at::kDouble ? at::kDouble : at::kFloat;
    rotary_ = rotary_table(config.context_tokens, config.head_width(), config.rope_theta, angle_type);
  }
  for (std::int64_t i = 0; i < config.layers; ++i) layers_.push_back(initial_layer(config, init));
  final_gain_ = init.gain(config.width, 1);
  head_ = init.normal(config.vocab, config.width, config.init_std);
}

at::Tensor Model::forward(const at::Tensor& tokens, NonlinearCores& cores) const {
  at::Tensor x = at::embedding(embedding_, tokens);  // [B, T, C]
  if (places_.defined()) x = x + places_.narrow(0, 0, tokens.size(1));
  const bool post = config_.norm_placement == NormPlacement::post;
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerParameters& layer = layers_[i];
    const std::int64_t index = static_cast<std::int64_t>(i);
    if (post) {
      x = x + rms_norm(attention(x, layer, index, cores), layer.attention_gain, norm_epsilon);
      x = x + rms_norm(feed_forward(x, layer, index, cores), layer.ffn_gain, norm_epsilon);
    } else {
      x = x + attention(rms_norm(x, layer.attention_gain, norm_epsilon), layer, index, cores);
      x = x + feed_forward(rms_norm(x, layer.ffn_gain, norm_epsilon), layer, index, cores);
    }
  }
  return linear_map(rms_norm(x, final_gain_, norm_epsilon), head_);
}

at::Tensor Model::attention(const at::Tensor& x, const LayerParameters& layer, std::int64_t index,
                            NonlinearCores& cores) const {
  at::Tensor query = rms_norm(linear_map(x, layer.query), layer.query_gain, norm_epsilon);
  at::Tensor key = rms_norm(linear_map(x, layer.key), layer.key_gain, norm_epsilon);
  const at::Tensor value = linear_map(x, layer.value);
  if (config_.positions == Positions::rope) {
    query = rotate(query, config_.heads, rotary_);
    key = rotate(key, config_.heads, rotary_);
  }
  const double scale = 1 / std::sqrt(static_cast<double>(config_.head_width()));
  const at::Tensor scores = head_scores(query, key, config_.heads, scale);         // S [B, H, T, T]
  const at::Tensor mixtures = head_mixtures(cores.softmax(scores, index), value);  // A V [B, T, C]
  return linear_map(mixtures, layer.output);
}

at::Tensor Model::feed_forward(const at::Tensor& x, const LayerParameters& layer, std::int64_t index,
                               NonlinearCores& cores) const {
  return linear_map(cores.swiglu(linear_map(x, layer.gate), linear_map(x, layer.up), index), layer.down);
}

std::vector<NamedParameter> Model::parameters() const {
  using Role = ParameterRole;
  std::vector<NamedParameter> all = {{"embedding", embedding_, Role::embedding}};
  if (places_.defined()) all.push_back({"places", places_, Role::embedding});
  for (std::size_t i = 0; i < layers_.size(); ++i) {
    const LayerParameters& layer = layers_[i];
    const std::string prefix = "layers." + std::to_string(i) + ".";
    all.push_back({prefix + "query", layer.query, Role::hidden_matrix});
    all.push_back({prefix + "key", layer.key, Role::hidden_matrix});
    all.push_back({prefix + "value", layer.value, Role::hidden_matrix});
    all.push_back({prefix + "output", layer.output, Role::hidden_matrix});
    all.push_back({prefix + "query_gain", layer.query_gain, Role::gain});
    all.push_back({prefix + "key_gain", layer.key_gain, Role::gain});
    all.push_back({prefix + "attention_gain", layer.attention_gain, Role::gain});
    all.push_back({prefix + "gate", layer.gate, Role::hidden_matrix});
    all.push_back({prefix + "up", layer.up, Role::hidden_matrix});
    all.push_back({prefix + "down", layer.down, Role::hidden_matrix});
    all.push_back({prefix + "ffn_gain", layer.ffn_gain, Role::gain});
  }
  all.push_back({"final_gain", final_gain_, Role::gain});
  all.push_back({"head", head_, Role::head});
  return all;
}

}  // namespace zbphw
