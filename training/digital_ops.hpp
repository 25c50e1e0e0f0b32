// The digital parts that the model is written in, each a function with its own backward.
//
// implements: linear, RMSNorm, rotary positions, cross-entropy. Statistics are taken in float at least (double inputs
// stay double).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace zbphw {

// x [..., in], weight [out, in] -> [..., out] = x weight^T
at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight);

// x [..., C], gain [C] -> gain * x / sqrt(mean(x^2) + epsilon) over the last dimension (Zhang, Sennrich 2019,
// arXiv:1910.07467). The gain is applied before the result is cast to x's type.
at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain, double epsilon);

// Cosines and sines of the rotation angles t theta^(-2 i / width), i < width / 2.
struct RotaryTable {
  at::Tensor cosine;  // [T, width]: each of the two halves
  at::Tensor sine;    // [T, width]: the first half negated
};
RotaryTable rotary_table(std::int64_t length, std::int64_t width, double theta, const at::TensorOptions& options);

// x [B, H, T', width] with T' <= T, rotated by place in the "rotate half" convention: component i pairs with i + width
// / 2,
//     (x_i, x_{i + w/2}) -> (x_i cos - x_{i + w/2} sin, x_{i + w/2} cos + x_i sin)
at::Tensor rotate(const at::Tensor& x, const RotaryTable& table);

// A target that does not count: its token is left out of the loss.
constexpr std::int64_t ignored_target = -100;

// logits [..., V], targets [...] (int64) -> the sum over all tokens of -log softmax(logits)[target], a scalar;
// tokens whose target is ignored_target add nothing.
// The caller divides by its (global) number of tokens.
at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& targets);

}  // namespace zbphw
