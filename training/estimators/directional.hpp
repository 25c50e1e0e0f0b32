// What estimators with probes of their own share: pairs of queries along directions u_k, E[u u^T] = 1.
//
//     v_hat = (1 / n) sum_k c_k u_k,   c_k = g . [y(x + rho u_k) - y(x - rho u_k)] / (2 rho)
//
// u_k as the DAC produced it: an input that was clipped counts by what it was moved.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {

// Inputs that a row of the request drives.
std::int64_t driven_width(const BlockSpec& spec, const QuerySlot& slot, std::int64_t row);

// A permutation of each row's driven inputs (Fisher and Yates), [rows, input_width]; beyond them the identity.
at::Tensor random_orders(const BlockSpec& spec, const VjpRequest& request, std::uint64_t stream);

class Directional : public VjpEstimator {
 public:
  at::Tensor estimate(PhysicalBlock& block, const VjpRequest& request) const override;
  std::int64_t queries_per_row(const BlockSpec& spec) const override {
    return queries_per_probe(config().order) * pairs(spec);
  }

  // probe_term(d, n) ||v||^2, and the readout's d s^2 ||g||^2 / (queries rho^2). A row of d inputs uses rows_probes(d).
  at::Tensor expected_error(const BlockSpec& spec, const VjpRequest& request, const at::Tensor& exact,
                            const at::Tensor& noise, const at::Tensor& amplitude) const override;

 protected:
  using VjpEstimator::VjpEstimator;

  // Probe k of every row, [rows, input_width] float64; zero where a row is not driven, and for rows of which all
  // directions are used up.
  using Directions = std::function<at::Tensor(std::int64_t k)>;
  virtual Directions draw(const BlockSpec& spec, const VjpRequest& request) const = 0;

  // Room that the DAC's range leaves for an entry of u, as a factor of rho.
  virtual double reach(const BlockSpec& spec) const = 0;

  // NSR of exact readout at n probes of d inputs each, [rows] both.
  virtual at::Tensor probe_term(const at::Tensor& d, const at::Tensor& n) const = 0;

  // Directions that are orthogonal end after d of them.
  virtual bool ends_at_width() const { return false; }

 private:
  std::int64_t pairs(const BlockSpec& spec) const;
  at::Tensor used_probes(const at::Tensor& d) const;
};

}  // namespace zbphw
