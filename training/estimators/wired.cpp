// A block whose wiring is elementwise needs no random probes: all channels are perturbed at once, because an output is
// reached by its own inputs alone. Inputs come in groups of output_width (a gate's a and b); each group takes one
// central pair of queries:
//
//     v_j = g_c [y_c(x + rho 1_group) - y_c(x - rho 1_group)] / (applied_j(+) - applied_j(-)),   c = j mod output_width
//
// Exact but for curvature (order rho^2) and readout: E||v_hat - v||^2 = groups s^2 ||g||^2 / (2 rho^2).
#include <ATen/ATen.h>

#include "base/registry.hpp"
#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {
namespace {

class Wired final : public VjpEstimator {
 public:
  explicit Wired(const EstimatorConfig& config) : VjpEstimator(config) {}

  at::Tensor estimate(PhysicalBlock& block, const VjpRequest& request) const override;

  at::Tensor expected_error(const BlockSpec& spec, const VjpRequest& request, const at::Tensor&,
                            const at::Tensor& noise, const at::Tensor& amplitude) const override {
    const at::Tensor g2 = request.cotangent.to(at::kDouble).square().sum(1);
    const at::Tensor relative_noise = noise.to(at::kDouble) / amplitude.to(at::kDouble);
    return static_cast<double>(groups(spec)) * g2 * relative_noise.square() /
           static_cast<double>(queries_per_probe(config().order));
  }

  std::int64_t queries_per_row(const BlockSpec& spec) const override {
    return queries_per_probe(config().order) * groups(spec);
  }

 private:
  static std::int64_t groups(const BlockSpec& spec) {
    if (spec.locality != Locality::elementwise || spec.input_width % spec.output_width != 0) {
      throw config_error("estimator wired",
                         "block " + spec.name + " is not elementwise: its wiring gives no exact query; use rademacher");
    }
    return spec.input_width / spec.output_width;
  }
};

at::Tensor Wired::estimate(PhysicalBlock& block, const VjpRequest& request) const {
  const std::int64_t group_count = groups(block.spec());
  const std::int64_t width = block.spec().output_width;
  const ProbeRequest probe = probe_request(request, group_count);
  const at::Tensor amplitude = realised_amplitude(block, probe).to(request.point.scalar_type()).unsqueeze(1);
  const QueryBatch sequence = pair_sequence(block, probe, probe.amplitude);
  at::Tensor estimate = at::empty_like(request.point);
  for (std::int64_t group = 0; group < group_count; ++group) {
    at::Tensor step = at::zeros_like(request.point);
    step.narrow(1, group * width, width).add_(amplitude);
    const PairDifference pair = query_pair(block, sequence, step, group, probe.order);
    const at::Tensor applied = pair.applied.narrow(1, group * width, width);
    // An input that the DAC clips on both sides was not moved: nothing is known about it.
    const at::Tensor slope = at::where(applied > 0, pair.values / applied, at::zeros_like(applied));
    estimate.narrow(1, group * width, width).copy_(request.cotangent * slope);
  }
  return estimate;
}

const Registration<EstimatorKind> registered("wired",
                                             {"exact pairs that an elementwise block's wiring allows",
                                              [](const EstimatorConfig& c) { return std::make_unique<Wired>(c); }});

}  // namespace
}  // namespace zbphw
