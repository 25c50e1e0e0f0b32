// Forces that a state relaxes under, and the network that stands on the bench.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "hw/equilibrium/equilibrium_config.hpp"

namespace zbphw {

// F(z, x): every row of a batch by itself. In the scalar type of its arguments.
class Dynamics {
 public:
  virtual ~Dynamics() = default;
  virtual std::int64_t width() const = 0;
  virtual std::int64_t crosspoints() const = 0;                                  // that work all the time
  virtual at::Tensor force(const at::Tensor& z, const at::Tensor& x) const = 0;  // [rows, width] each
  // dF_i / dz_j at one state, z [width]; [width, width].
  virtual at::Tensor jacobian(const at::Tensor& z) const = 0;
};

// F = x - z + B tanh(A z). Reciprocal (B = A^T) it is -dE/dz of E = |z - x|^2 / 2 - sum log cosh(A z), a Hopfield
// network with a hidden layer (Krotov and Hopfield 2021, arXiv:2008.06996).
class BenchDynamics : public Dynamics {
 public:
  BenchDynamics(const BenchDynamicsConfig& config, std::int64_t width, std::uint64_t seed);

  std::int64_t width() const override { return to_hidden_.size(1); }
  std::int64_t crosspoints() const override { return 2 * to_hidden_.numel(); }
  at::Tensor force(const at::Tensor& z, const at::Tensor& x) const override;
  at::Tensor jacobian(const at::Tensor& z) const override;

 private:
  at::Tensor to_hidden_;    // A [width, width], float64
  at::Tensor from_hidden_;  // B [width, width], float64
};

}  // namespace zbphw
