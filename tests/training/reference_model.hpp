// The model of training/model.hpp once more, in plain loops over std::vector<double> and straight from the equations.
#pragma once

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "training/model.hpp"

namespace reference {

using Row = std::vector<double>;
using Rows = std::vector<Row>;  // [T][C]

class PlainModel {
 public:
  explicit PlainModel(const zbphw::Model& model) : config_(model.config()) {
    for (const zbphw::NamedParameter& p : model.parameters()) {
      const at::Tensor flat = p.tensor.detach().to(at::kDouble).reshape({-1}).contiguous();
      values_[p.name] = Row(flat.data_ptr<double>(), flat.data_ptr<double>() + flat.numel());
    }
  }

  // The mean over a sequence of -log p(target).
  double loss(const std::vector<std::int64_t>& tokens, const std::vector<std::int64_t>& targets) const {
    const std::size_t width = static_cast<std::size_t>(config_.width);
    Rows x;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      Row row(width);
      for (std::size_t c = 0; c < width; ++c) {
        row[c] = values_.at("embedding")[static_cast<std::size_t>(tokens[t]) * width + c];
        if (values_.count("places") > 0) row[c] += values_.at("places")[t * width + c];
      }
      x.push_back(row);
    }
    for (std::int64_t l = 0; l < config_.layers; ++l) {
      const std::string layer = "layers." + std::to_string(l) + ".";
      x = residual(x, values_.at(layer + "attention_gain"), [&](const Rows& in) { return attention(in, layer); });
      x = residual(x, values_.at(layer + "ffn_gain"), [&](const Rows& in) { return feed_forward(in, layer); });
    }
    double sum = 0;
    for (std::size_t t = 0; t < tokens.size(); ++t) {
      const Row logits = product(values_.at("head"), norm(x[t], values_.at("final_gain")));
      double total = 0;
      for (const double v : logits) total += std::exp(v);
      sum += std::log(total) - logits[static_cast<std::size_t>(targets[t])];
    }
    return sum / static_cast<double>(tokens.size());
  }

 private:
  // matrix [out, in] times x [in]
  static Row product(const Row& matrix, const Row& x) {
    Row y(matrix.size() / x.size(), 0.0);
    for (std::size_t o = 0; o < y.size(); ++o) {
      for (std::size_t i = 0; i < x.size(); ++i) y[o] += matrix[o * x.size() + i] * x[i];
    }
    return y;
  }

  static Row norm(const Row& x, const Row& gain) {
    double square = 0;
    for (const double v : x) square += v * v;
    const double rms = std::sqrt(square / static_cast<double>(x.size()) + 1e-6);
    Row y(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] / rms * gain[i];
    return y;
  }

  template <class Branch>
  Rows residual(const Rows& x, const Row& gain, const Branch& branch) const {
    const bool post = config_.norm_placement == zbphw::NormPlacement::post;
    Rows in = x;
    if (!post) {
      for (Row& row : in) row = norm(row, gain);
    }
    Rows out = branch(in);
    for (std::size_t t = 0; t < x.size(); ++t) {
      if (post) out[t] = norm(out[t], gain);
      for (std::size_t c = 0; c < x[t].size(); ++c) out[t][c] += x[t][c];
    }
    return out;
  }

  Rows feed_forward(const Rows& x, const std::string& layer) const {
    Rows out;
    for (const Row& row : x) {
      const Row gate = product(values_.at(layer + "gate"), row);
      Row hidden = product(values_.at(layer + "up"), row);
      for (std::size_t f = 0; f < hidden.size(); ++f) hidden[f] *= gate[f] / (1 + std::exp(-gate[f]));
      out.push_back(product(values_.at(layer + "down"), hidden));
    }
    return out;
  }

  // One head's slice of a projected row, rotated to place t as complex numbers z_i = x_i + i x_{i + w/2}.
  Row head_slice(const Row& projected, std::size_t head, std::size_t t) const {
    const std::size_t width = static_cast<std::size_t>(config_.head_width());
    Row slice(width);
    for (std::size_t i = 0; i < width; ++i) slice[i] = projected[head * width + i];
    if (config_.positions != zbphw::Positions::rope) return slice;
    const Row before = slice;
    for (std::size_t i = 0; i < width / 2; ++i) {
      const double frequency = std::pow(config_.rope_theta, -2.0 * double(i) / double(width));
      const double c = std::cos(double(t) * frequency), s = std::sin(double(t) * frequency);
      slice[i] = before[i] * c - before[i + width / 2] * s;
      slice[i + width / 2] = before[i] * s + before[i + width / 2] * c;
    }
    return slice;
  }

  Rows attention(const Rows& x, const std::string& layer) const {
    const std::size_t heads = static_cast<std::size_t>(config_.heads);
    const std::size_t width = static_cast<std::size_t>(config_.head_width());
    Rows query, key, value, mixed(x.size(), Row(x[0].size(), 0.0));
    for (const Row& row : x) {
      query.push_back(norm(product(values_.at(layer + "query"), row), values_.at(layer + "query_gain")));
      key.push_back(norm(product(values_.at(layer + "key"), row), values_.at(layer + "key_gain")));
      value.push_back(product(values_.at(layer + "value"), row));
    }
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t t = 0; t < x.size(); ++t) {
        const Row q = head_slice(query[t], h, t);
        Row weight;
        double total = 0;
        for (std::size_t s = 0; s <= t; ++s) {
          const Row k = head_slice(key[s], h, s);
          double dot = 0;
          for (std::size_t i = 0; i < width; ++i) dot += q[i] * k[i];
          weight.push_back(std::exp(dot / std::sqrt(double(width))));
          total += weight.back();
        }
        for (std::size_t s = 0; s <= t; ++s) {
          for (std::size_t i = 0; i < width; ++i) {
            mixed[t][h * width + i] += weight[s] / total * value[s][h * width + i];
          }
        }
      }
    }
    Rows out;
    for (const Row& row : mixed) out.push_back(product(values_.at(layer + "output"), row));
    return out;
  }

  zbphw::ModelConfig config_;
  std::map<std::string, Row> values_;
};

}  // namespace reference
