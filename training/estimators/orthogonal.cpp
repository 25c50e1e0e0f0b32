// Central pairs of orthogonal probes: the rows of a Haar-distributed orthogonal matrix, scaled to sqrt(d).
//
// NSR_probe = d / n - 1: exactly 0 once n = d (Choromanski, Rowland, Weller 2017, arXiv:1703.00864, for the structured
// probes). One matrix is drawn for each row length and step; every row of the batch permutes its columns and multiplies
// them by signs of its own. That keeps the probes orthogonal and the distribution Haar, and makes the errors of
// different rows uncorrelated: the signs those off the diagonal of sum_k u_k u_k^T, the permutation those on it (they
// sum to zero).
#include <ATen/ATen.h>

#include <cmath>
#include <vector>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "training/estimators/directional.hpp"

namespace zbphw {
namespace {

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

class Orthogonal final : public Directional {
 public:
  explicit Orthogonal(const EstimatorConfig& config) : Directional(config) {}

 protected:
  Directions draw(const BlockSpec& spec, const VjpRequest& request) const override {
    std::vector<at::Tensor> haar(static_cast<std::size_t>(spec.input_width + 1));
    const std::int64_t shortest = spec.causal_period == 0 ? spec.input_width : 1;
    for (std::int64_t d = shortest; d <= spec.input_width; ++d) haar[d] = scaled_haar(d, request);
    const at::Tensor order = random_orders(spec, request, stream_id("orthogonal order"));
    const at::Tensor signs = rademacher_signs(probe_request(request, 1), 0).to(at::kDouble);
    return [=](std::int64_t k) {
      at::Tensor probe = at::zeros({order.size(0), spec.input_width}, at::kDouble);
      for (std::int64_t r = 0; r < order.size(0); ++r) {
        const std::int64_t d = driven_width(spec, request.slot, r);
        if (k < d) probe[r].narrow(0, 0, d).copy_(haar[d][k].index_select(0, order[r].narrow(0, 0, d)));
      }
      return probe * signs;
    };
  }
  // Four standard deviations of a Gaussian entry.
  double reach(const BlockSpec&) const override { return 4; }
  at::Tensor probe_term(const at::Tensor& d, const at::Tensor& n) const override { return d / n - 1; }
  bool ends_at_width() const override { return true; }
};

const Registration<EstimatorKind> registered("orthogonal", {"central pairs of orthogonal probes; exact at n = d",
                                                            [](const EstimatorConfig& c) {
                                                              return std::make_unique<Orthogonal>(c);
                                                            }});

}  // namespace
}  // namespace zbphw
