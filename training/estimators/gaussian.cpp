// Central pairs of Gaussian probes, and of probes on the sphere of radius sqrt(d).
//
// NSR_probe = (d + 1) / n for Gaussian entries, whose length varies, and (d - 1) / n on the sphere (Nesterov, Spokoiny,
// Foundations of Computational Mathematics 17, 527, 2017, for the estimator).
#include <ATen/ATen.h>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "training/estimators/directional.hpp"

namespace zbphw {
namespace {

// Standard normal entries of probe k on the driven inputs of every row.
at::Tensor normal_probe(const BlockSpec& spec, const VjpRequest& request, std::int64_t probes, std::int64_t k) {
  const std::int64_t rows = request.point.size(0);
  at::Tensor probe = at::zeros({rows, spec.input_width}, at::kDouble);
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto query = static_cast<std::uint32_t>((request.slot.first_row + r) * probes + k);
    const RandomAt at(request.seed, stream_id("gaussian probe"), request.slot.step, request.slot.block, query);
    double* entry = probe.data_ptr<double>() + r * spec.input_width;
    const std::int64_t d = driven_width(spec, request.slot, r);
    for (std::int64_t j = 0; j < d; ++j) entry[j] = at.normal(static_cast<std::uint32_t>(j));
  }
  return probe;
}

class Gaussian final : public Directional {
 public:
  explicit Gaussian(const EstimatorConfig& config) : Directional(config) {}

 protected:
  Directions draw(const BlockSpec& spec, const VjpRequest& request) const override {
    return [=, n = config().probes](std::int64_t k) { return normal_probe(spec, request, n, k); };
  }
  double reach(const BlockSpec&) const override { return 4; }
  at::Tensor probe_term(const at::Tensor& d, const at::Tensor& n) const override { return (d + 1) / n; }
};

class Sphere final : public Directional {
 public:
  explicit Sphere(const EstimatorConfig& config) : Directional(config) {}

 protected:
  Directions draw(const BlockSpec& spec, const VjpRequest& request) const override {
    const at::Tensor radius = driven_widths(spec, request.slot, request.point.size(0)).sqrt().unsqueeze(1);
    return [=, n = config().probes](std::int64_t k) {
      const at::Tensor probe = normal_probe(spec, request, n, k);
      return probe * (radius / probe.square().sum(1, true).sqrt());
    };
  }
  double reach(const BlockSpec&) const override { return 4; }
  at::Tensor probe_term(const at::Tensor& d, const at::Tensor& n) const override { return (d - 1) / n; }
};

const Registration<EstimatorKind> gaussian("gaussian",
                                           {"central pairs of normal entries",
                                            [](const EstimatorConfig& c) { return std::make_unique<Gaussian>(c); }});
const Registration<EstimatorKind> sphere("sphere",
                                         {"central pairs of directions of length sqrt(d)",
                                          [](const EstimatorConfig& c) { return std::make_unique<Sphere>(c); }});

}  // namespace
}  // namespace zbphw
