// Central pairs along single inputs, drawn without replacement: u = sqrt(d) e_j.
//
// NSR_probe = d / n - 1, exactly 0 at n = d: then it is the full set of finite differences. Each perturbation is
// sqrt(d) times the amplitude, on one input: ports and curvature feel that.
#include <ATen/ATen.h>

#include <cmath>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "training/estimators/directional.hpp"

namespace zbphw {
namespace {

class Coordinate final : public Directional {
 public:
  explicit Coordinate(const EstimatorConfig& config) : Directional(config) {}

 protected:
  Directions draw(const BlockSpec& spec, const VjpRequest& request) const override {
    const at::Tensor order = random_orders(spec, request, stream_id("coordinate order"));
    return [=](std::int64_t k) {
      at::Tensor probe = at::zeros({order.size(0), spec.input_width}, at::kDouble);
      for (std::int64_t r = 0; r < order.size(0); ++r) {
        const std::int64_t d = driven_width(spec, request.slot, r);
        if (k < d) probe[r][order[r][k].item<std::int64_t>()] = std::sqrt(static_cast<double>(d));
      }
      return probe;
    };
  }
  double reach(const BlockSpec& spec) const override { return std::sqrt(static_cast<double>(spec.input_width)); }
  at::Tensor probe_term(const at::Tensor& d, const at::Tensor& n) const override { return d / n - 1; }
  bool ends_at_width() const override { return true; }
};

const Registration<EstimatorKind> registered("coordinate", {"central pairs along single inputs; exact at n = d",
                                                            [](const EstimatorConfig& c) {
                                                              return std::make_unique<Coordinate>(c);
                                                            }});

}  // namespace
}  // namespace zbphw
