#include "hw/equilibrium/dynamics.hpp"

#include <ATen/ATen.h>

#include <cmath>

#include "base/random.hpp"

namespace zbphw {
namespace {

// Normal entries, scaled to the spectral norm `norm`.
at::Tensor scaled_matrix(std::int64_t width, double norm, const RandomAt& random) {
  at::Tensor matrix = at::empty({width, width}, at::kDouble);
  double* out = matrix.data_ptr<double>();
  for (std::int64_t k = 0; k < width * width; ++k) out[k] = random.normal(static_cast<std::uint32_t>(k));
  return matrix * (norm / at::linalg_svdvals(matrix).max().item<double>());
}

}  // namespace

BenchDynamics::BenchDynamics(const BenchDynamicsConfig& config, std::int64_t width, std::uint64_t seed)
    : to_hidden_(scaled_matrix(width, std::sqrt(config.gain), {seed, stream_id("equilibrium weights to hidden")})),
      from_hidden_(config.reciprocal ? to_hidden_.t().contiguous()
                                     : scaled_matrix(width, std::sqrt(config.gain),
                                                     {seed, stream_id("equilibrium weights from hidden")})) {}

at::Tensor BenchDynamics::force(const at::Tensor& z, const at::Tensor& x) const {
  const at::Tensor to_hidden = to_hidden_.to(z.scalar_type());
  const at::Tensor from_hidden = from_hidden_.to(z.scalar_type());
  return x - z + at::matmul(at::tanh(at::matmul(z, to_hidden.t())), from_hidden.t());
}

at::Tensor BenchDynamics::jacobian(const at::Tensor& z) const {
  const at::Tensor slope = 1 - at::tanh(at::mv(to_hidden_, z.to(at::kDouble))).square();
  return at::matmul(from_hidden_ * slope, to_hidden_) - at::eye(width(), at::kDouble);
}

}  // namespace zbphw
