#include "training/digital_ops.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/outer.h>

#include <cmath>
#include <vector>

namespace zbphw {
namespace {

// Reductions of half-width types are taken in float; float and double stay what they are.
at::ScalarType statistics_type(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// x [B, T, C] -> [B, heads, T, C / heads]
at::Tensor split_heads(const at::Tensor& x, std::int64_t heads) {
  return x.view({x.size(0), x.size(1), heads, x.size(2) / heads}).transpose(1, 2);
}

}  // namespace

bool has_kernels(const at::Tensor& x) {
  return x.device().is_cpu() && (x.scalar_type() == at::kFloat || x.scalar_type() == at::kDouble);
}

at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return x.reshape({-1, x.size(-1)}).mm(weight.t()).view(shape);
}

at::Tensor rms_norm_by_tensors(const at::Tensor& x, const at::Tensor& gain, double epsilon) {
  const at::Tensor wide = x.to(statistics_type(x));
  const at::Tensor inverse = (wide.square().mean(-1, true) + epsilon).rsqrt();
  return (wide * inverse * gain).to(x.scalar_type());
}

RotaryTable rotary_table(std::int64_t length, std::int64_t width, double theta, const at::TensorOptions& options) {
  const at::TensorOptions exact = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor pair = at::arange(0, width, 2, exact);
  const at::Tensor frequency = (pair * (-std::log(theta) / static_cast<double>(width))).exp();
  const at::Tensor angle = at::outer(at::arange(length, exact), frequency);  // [T, width / 2]
  return {angle.cos().to(options), angle.sin().to(options)};
}

at::Tensor rotate_by_tensors(const at::Tensor& x, std::int64_t heads, const RotaryTable& table) {
  const std::int64_t length = x.size(1);
  const std::int64_t half = x.size(2) / heads / 2;
  const at::Tensor wide = x.view({x.size(0), length, heads, 2 * half}).to(table.cosine.scalar_type());
  const at::Tensor first = wide.narrow(-1, 0, half);
  const at::Tensor second = wide.narrow(-1, half, half);
  const at::Tensor cosine = table.cosine.narrow(0, 0, length).unsqueeze(1);  // [T, 1, width / 2]
  const at::Tensor sine = table.sine.narrow(0, 0, length).unsqueeze(1);
  const at::Tensor rotated = at::cat({first * cosine - second * sine, second * cosine + first * sine}, -1);
  return rotated.to(x.scalar_type()).view(x.sizes());
}

at::Tensor head_scores_by_tensors(const at::Tensor& query, const at::Tensor& key, std::int64_t heads, double factor) {
  return at::matmul(split_heads(query, heads) * factor, split_heads(key, heads).transpose(-2, -1));
}

at::Tensor head_mixtures_by_tensors(const at::Tensor& weights, const at::Tensor& value) {
  return at::matmul(weights, split_heads(value, weights.size(1))).transpose(1, 2).reshape(value.sizes());
}

at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor flat = logits.reshape({-1, logits.size(-1)}).to(statistics_type(logits));
  return at::nll_loss(at::log_softmax(flat, 1), targets.reshape({-1}), {}, at::Reduction::Sum, ignored_target);
}

}  // namespace zbphw
