#include "training/estimators/vjp_estimator.hpp"

#include <ATen/ATen.h>

#include "base/registry.hpp"

namespace zbphw {

void describe(Fields& f, EstimatorConfig& c) {
  f.text("estimator", c.name, "rademacher, gaussian, sphere, orthogonal, coordinate or wired");
  f.integer("probes", c.probes, between(1, 1 << 20), "n: central pairs of queries for each row");
  f.choice("order", c.order, "of a probe's two sides in time; +--+ asks both twice, and linear drift cancels");
  f.number("amplitude", c.amplitude, above_up_to(0, 32), "rho: size of the perturbation, in the block's input units");
}

std::unique_ptr<VjpEstimator> make_estimator(const EstimatorConfig& config, const std::string& where) {
  return Registry<EstimatorKind>::instance().at(config.name, "estimator", where + ".estimator").make(config);
}

ProbeRequest VjpEstimator::probe_request(const VjpRequest& request, std::int64_t pairs) const {
  ProbeRequest probe;
  probe.point = request.point;
  probe.cotangent = request.cotangent;
  probe.probes = pairs;
  probe.order = config_.order;
  probe.amplitude = config_.amplitude;
  probe.seed = request.seed;
  probe.slot = request.slot;
  return probe;
}

at::Tensor driven_widths(const BlockSpec& spec, const QuerySlot& slot, std::int64_t rows) {
  if (spec.causal_period == 0) return at::full({rows}, static_cast<double>(spec.input_width), at::kDouble);
  const auto first = static_cast<std::int64_t>(slot.first_row);
  return at::arange(first, first + rows, at::kLong).remainder(spec.causal_period).add(1).to(at::kDouble);
}

}  // namespace zbphw
