// The digital parts that the model is written in.
//
// implements: linear map, RMSNorm, rotary positions, attention's two products, cross-entropy; all differentiable by
// autograd. Statistics are taken in float at least (double inputs stay double).
//
// Each has a form in plain tensor operations, `..._by_tensors`, which runs on every device and in every type. On the
// CPU float and double take fused loops (digital_kernels.hpp) with a backward of their own instead; the tests compare
// the two.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace zbphw {

// x [..., in], weight [out, in] -> [..., out] = x weight^T
at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight);

// x [..., C], gain [C] -> gain * x / sqrt(mean(x^2) + epsilon) over the last dimension (Zhang, Sennrich 2019,
// arXiv:1910.07467). The gain is applied before the result is cast to x's type.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain, double epsilon);
at::Tensor rms_norm_by_tensors(const at::Tensor& x, const at::Tensor& gain, double epsilon);

// Of the rotation angles t theta^(-2 i / width), i < width / 2; each [T, width / 2].
struct RotaryTable {
  at::Tensor cosine;
  at::Tensor sine;
};
RotaryTable rotary_table(std::int64_t length, std::int64_t width, double theta, const at::TensorOptions& options);

// x [B, T', C] with T' <= T: each head's C / heads components, rotated by place in the "rotate half" convention, where
// component i pairs with i + width / 2:
//     (x_i, x_{i + w/2}) -> (x_i cos - x_{i + w/2} sin, x_{i + w/2} cos + x_i sin)
at::Tensor rotate(const at::Tensor& x, std::int64_t heads, const RotaryTable& table);
at::Tensor rotate_by_tensors(const at::Tensor& x, std::int64_t heads, const RotaryTable& table);

// query, key [B, T, C] -> scores S = factor Q K^T of each head, [B, heads, T, T]
at::Tensor head_scores(const at::Tensor& query, const at::Tensor& key, std::int64_t heads, double factor);
at::Tensor head_scores_by_tensors(const at::Tensor& query, const at::Tensor& key, std::int64_t heads, double factor);

// weights A [B, heads, T, T], value [B, T, C] -> A V of each head, side by side: [B, T, C]
at::Tensor head_mixtures(const at::Tensor& weights, const at::Tensor& value);
at::Tensor head_mixtures_by_tensors(const at::Tensor& weights, const at::Tensor& value);

// A target that does not count: its token is left out of the loss.
constexpr std::int64_t ignored_target = -100;

// logits [..., V], targets [...] (int64) -> the sum over all tokens of -log softmax(logits)[target], a scalar; tokens
// whose target is ignored_target add nothing. The caller divides by its (global) number of tokens.
at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& targets);

// Whether the fused loops can take this tensor.
bool has_kernels(const at::Tensor& x);

}  // namespace zbphw
