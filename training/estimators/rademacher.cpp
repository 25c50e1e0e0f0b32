// Central pairs of Rademacher probes: v_hat = (1/n) sum_k c_k u_k, c_k = g . [y(x + rho u_k) - y(x - rho u_k)] / (2
// rho).
//
// Law for a row of d driven inputs: E||v_hat - v||^2 = (d - 1) / n ||v||^2 + d s^2 ||g||^2 / (2 n rho^2), s the readout
// noise of one output in one query (Spall 1992, IEEE TAC 37, for the estimator).
#include <ATen/ATen.h>

#include "base/registry.hpp"
#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {
namespace {

class Rademacher final : public VjpEstimator {
 public:
  explicit Rademacher(const EstimatorConfig& config) : VjpEstimator(config) {}

  at::Tensor estimate(PhysicalBlock& block, const VjpRequest& request) const override {
    return block.probe(probe_request(request, config().probes)).estimate;
  }

  at::Tensor expected_error(const BlockSpec& spec, const VjpRequest& request, const at::Tensor& exact,
                            const at::Tensor& noise, const at::Tensor& amplitude) const override {
    const at::Tensor d = driven_widths(spec, request.slot, exact.size(0));
    const at::Tensor v2 = exact.to(at::kDouble).square().sum(1);
    const at::Tensor g2 = request.cotangent.to(at::kDouble).square().sum(1);
    const at::Tensor s2 = noise.to(at::kDouble).square();
    const auto n = static_cast<double>(config().probes);
    const auto queries_a_row = static_cast<double>(queries_per_row(spec));
    return (d - 1) / n * v2 + d * s2 * g2 / (queries_a_row * amplitude.to(at::kDouble).square());
  }

  std::int64_t queries_per_row(const BlockSpec&) const override {
    return queries_per_probe(config().order) * config().probes;
  }
};

const Registration<EstimatorKind> registered("rademacher", {"central pairs of random signs; needs nothing of the block",
                                                            [](const EstimatorConfig& c) {
                                                              return std::make_unique<Rademacher>(c);
                                                            }});

}  // namespace
}  // namespace zbphw
