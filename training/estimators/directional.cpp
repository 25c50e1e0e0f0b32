#include "training/estimators/directional.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

#include "base/random.hpp"

namespace zbphw {

std::int64_t driven_width(const BlockSpec& spec, const QuerySlot& slot, std::int64_t row) {
  return spec.causal_period == 0 ? spec.input_width : (slot.first_row + row) % spec.causal_period + 1;
}

at::Tensor random_orders(const BlockSpec& spec, const VjpRequest& request, std::uint64_t stream) {
  const std::int64_t rows = request.point.size(0);
  at::Tensor orders = at::arange(spec.input_width, at::kLong).repeat({rows, 1});
  for (std::int64_t r = 0; r < rows; ++r) {
    const RandomAt at(request.seed, stream, request.slot.step, request.slot.block,
                      static_cast<std::uint32_t>(request.slot.first_row + r));
    std::int64_t* order = orders[r].data_ptr<std::int64_t>();
    const std::int64_t d = driven_width(spec, request.slot, r);
    for (std::int64_t j = d - 1; j > 0; --j) {
      std::swap(order[j], order[at.below(static_cast<std::uint64_t>(j + 1), static_cast<std::uint32_t>(j))]);
    }
  }
  return orders;
}

std::int64_t Directional::pairs(const BlockSpec& spec) const {
  return ends_at_width() ? std::min(config().probes, spec.input_width) : config().probes;
}

at::Tensor Directional::used_probes(const at::Tensor& d) const {
  const auto n = static_cast<double>(config().probes);
  return ends_at_width() ? d.clamp_max(n) : at::full_like(d, n);
}

at::Tensor Directional::estimate(PhysicalBlock& block, const VjpRequest& request) const {
  const BlockSpec& spec = block.spec();
  const std::int64_t n = pairs(spec);
  const Directions direction = draw(spec, request);
  const ProbeRequest probe = probe_request(request, n);
  const at::Tensor amplitude = realised_amplitude(block, probe).to(request.point.scalar_type()).unsqueeze(1);
  const QueryBatch sequence = pair_sequence(block, probe, reach(spec) * probe.amplitude);
  at::Tensor sum = at::zeros_like(request.point);
  for (std::int64_t k = 0; k < n; ++k) {
    const at::Tensor step = amplitude * direction(k).to(request.point.scalar_type());
    const PairDifference pair = query_pair(block, sequence, step, k, probe.order);
    const at::Tensor response = (request.cotangent * pair.values).sum(1, true) / (2 * amplitude);
    sum += response * pair.applied / (2 * amplitude);
  }
  const at::Tensor used = used_probes(driven_widths(spec, request.slot, request.point.size(0))).unsqueeze(1);
  return sum / used.to(sum.scalar_type());
}

at::Tensor Directional::expected_error(const BlockSpec& spec, const VjpRequest& request, const at::Tensor& exact,
                                       const at::Tensor& noise, const at::Tensor& amplitude) const {
  const at::Tensor d = driven_widths(spec, request.slot, exact.size(0));
  const at::Tensor n = used_probes(d);
  const at::Tensor v2 = exact.to(at::kDouble).square().sum(1);
  const at::Tensor g2 = request.cotangent.to(at::kDouble).square().sum(1);
  const at::Tensor relative_noise = noise.to(at::kDouble) / amplitude.to(at::kDouble);
  const auto reads = static_cast<double>(queries_per_probe(config().order));
  return probe_term(d, n) * v2 + d * relative_noise.square() * g2 / (reads * n);
}

}  // namespace zbphw
