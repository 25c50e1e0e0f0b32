// Central pairs of orthogonal probes: the rows of a Haar-distributed orthogonal matrix, scaled to sqrt(d).
//
// NSR_probe = d / n - 1: exactly 0 once n = d (Choromanski, Rowland, Weller 2017, arXiv:1703.00864, for the structured
// probes). One matrix is drawn for each row length and step; every row of the batch permutes its columns and multiplies
// them by signs of its own. That keeps the probes orthogonal and the distribution Haar, and makes the errors of
// different rows uncorrelated: the signs those off the diagonal of sum_k u_k u_k^T, the permutation those on it (they
// sum to zero).
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {
namespace {

std::int64_t driven_width(const BlockSpec& spec, const QuerySlot& slot, std::int64_t row) {
  return spec.causal_period == 0 ? spec.input_width : (slot.first_row + row) % spec.causal_period + 1;
}

// Haar: QR of a Gaussian matrix, column signs set by R's diagonal (Mezzadri 2007, Notices AMS 54). [d, d], times
// sqrt(d).
at::Tensor scaled_haar(std::int64_t d, const VjpRequest& request) {
  const RandomAt at(request.seed, stream_id("orthogonal probe"), request.slot.step, request.slot.block,
                    static_cast<std::uint32_t>(d));
  at::Tensor gaussian = at::empty({d, d}, at::kDouble);
  for (std::int64_t i = 0; i < d * d; ++i) gaussian.data_ptr<double>()[i] = at.normal(static_cast<std::uint32_t>(i));
  const auto [q, r] = at::linalg_qr(gaussian);
  return q * r.diagonal().sign() * std::sqrt(static_cast<double>(d));
}

// A permutation of each row's driven inputs (Fisher and Yates), [rows, input_width]; beyond them the identity.
at::Tensor column_orders(const BlockSpec& spec, const VjpRequest& request) {
  const std::int64_t rows = request.point.size(0);
  at::Tensor orders = at::arange(spec.input_width, at::kLong).repeat({rows, 1});
  for (std::int64_t r = 0; r < rows; ++r) {
    const RandomAt at(request.seed, stream_id("orthogonal order"), request.slot.step, request.slot.block,
                      static_cast<std::uint32_t>(request.slot.first_row + r));
    std::int64_t* order = orders[r].data_ptr<std::int64_t>();
    const std::int64_t d = driven_width(spec, request.slot, r);
    for (std::int64_t j = d - 1; j > 0; --j) {
      std::swap(order[j], order[at.below(static_cast<std::uint64_t>(j + 1), static_cast<std::uint32_t>(j))]);
    }
  }
  return orders;
}

class Orthogonal final : public VjpEstimator {
 public:
  explicit Orthogonal(const EstimatorConfig& config) : VjpEstimator(config) {}

  at::Tensor estimate(PhysicalBlock& block, const VjpRequest& request) const override;

  at::Tensor expected_error(const BlockSpec& spec, const VjpRequest& request, const at::Tensor& exact,
                            const at::Tensor& noise, const at::Tensor& amplitude) const override {
    const at::Tensor d = driven_widths(spec, request.slot, exact.size(0));
    const at::Tensor n = d.clamp_max(static_cast<double>(config().probes));
    const at::Tensor v2 = exact.to(at::kDouble).square().sum(1);
    const at::Tensor g2 = request.cotangent.to(at::kDouble).square().sum(1);
    const at::Tensor relative_noise = noise.to(at::kDouble) / amplitude.to(at::kDouble);
    return (d / n - 1) * v2 +
           d * relative_noise.square() * g2 / (static_cast<double>(queries_per_probe(config().order)) * n);
  }

  std::int64_t queries_per_row(const BlockSpec& spec) const override {
    return queries_per_probe(config().order) * pairs(spec);
  }

 private:
  std::int64_t pairs(const BlockSpec& spec) const { return std::min(config().probes, spec.input_width); }

  // Probe k of every row, [rows, input_width]; zero for rows that have fewer than k + 1 inputs.
  at::Tensor probe_of(const BlockSpec& spec, const VjpRequest& request, const std::vector<at::Tensor>& haar,
                      const at::Tensor& signs, const at::Tensor& order, std::int64_t k) const;
};

at::Tensor Orthogonal::probe_of(const BlockSpec& spec, const VjpRequest& request, const std::vector<at::Tensor>& haar,
                                const at::Tensor& signs, const at::Tensor& order, std::int64_t k) const {
  const std::int64_t rows = request.point.size(0);
  at::Tensor probe = at::zeros({rows, spec.input_width}, at::kDouble);
  for (std::int64_t r = 0; r < rows; ++r) {
    const std::int64_t d = driven_width(spec, request.slot, r);
    if (k < d) probe[r].narrow(0, 0, d).copy_(haar[d][k].index_select(0, order[r].narrow(0, 0, d)));
  }
  return (probe * signs).to(request.point.scalar_type());
}

at::Tensor Orthogonal::estimate(PhysicalBlock& block, const VjpRequest& request) const {
  const BlockSpec& spec = block.spec();
  const std::int64_t rows = request.point.size(0);
  const std::int64_t n = pairs(spec);
  std::vector<at::Tensor> haar(static_cast<std::size_t>(spec.input_width + 1));
  const std::int64_t shortest = spec.causal_period == 0 ? spec.input_width : 1;
  for (std::int64_t d = shortest; d <= spec.input_width; ++d) haar[d] = scaled_haar(d, request);

  const at::Tensor order = column_orders(spec, request);
  const ProbeRequest probe = probe_request(request, n);
  const at::Tensor signs = rademacher_signs(probe, 0).to(at::kDouble);
  const at::Tensor amplitude = realised_amplitude(block, probe).to(request.point.scalar_type()).unsqueeze(1);
  // An orthogonal probe's entries go beyond 1: four standard deviations of a Gaussian entry are left as room.
  const QueryBatch sequence = pair_sequence(block, probe, 4 * probe.amplitude);
  at::Tensor sum = at::zeros_like(request.point);
  for (std::int64_t k = 0; k < n; ++k) {
    const at::Tensor step = amplitude * probe_of(spec, request, haar, signs, order, k);
    const PairDifference pair = query_pair(block, sequence, step, k, probe.order);
    const at::Tensor response = (request.cotangent * pair.values).sum(1, true) / (2 * amplitude);
    sum += response * pair.applied / (2 * amplitude);
  }
  const at::Tensor used = driven_widths(spec, request.slot, rows).clamp_max(static_cast<double>(n)).unsqueeze(1);
  return sum / used.to(sum.scalar_type());
}

const Registration<EstimatorKind> registered("orthogonal", {"central pairs of orthogonal probes; exact at n = d",
                                                            [](const EstimatorConfig& c) {
                                                              return std::make_unique<Orthogonal>(c);
                                                            }});

}  // namespace
}  // namespace zbphw
