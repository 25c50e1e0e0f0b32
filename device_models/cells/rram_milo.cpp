// Multilevel resistive memory: Milo et al. (2021). A spread around the target that is linear in it; no drift and no
// read noise are given.
#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/curves.hpp"
#include "device_models/cells/spread_cell.hpp"

namespace zbphw {
namespace {

struct RramMiloConfig {
  double g_min_us = 0;
  double g_max_us = 0;
  std::vector<double> sd_us;  // polynomial in the target
};

void describe(Fields& f, RramMiloConfig& c) {
  f.required().number("g_min_us", c.g_min_us, at_least(0), "smallest conductance that is programmed");
  f.required().number("g_max_us", c.g_max_us, above(0), "largest conductance that is programmed");
  describe_polynomial(f, "sd_us", c.sd_us, "spread: coefficients in the target in uS, constant first");
  f.require(c.g_min_us < c.g_max_us, "g_min_us", "is not below g_max_us");
}

class RramMilo : public SpreadCell {
 public:
  RramMilo(CellIdentity identity, const RramMiloConfig& config) : SpreadCell(std::move(identity)), config_(config) {}

  double g_min_us() const override { return config_.g_min_us; }
  double g_max_us() const override { return config_.g_max_us; }

 private:
  double spread_us(double target_us, double) const override { return polynomial(config_.sd_us, target_us); }

  void read_noise_all(const double*, const double*, std::size_t count, double, double* deviation_us) const override {
    for (std::size_t i = 0; i < count; ++i) deviation_us[i] = 0;
  }

  RramMiloConfig config_;
};

const CellRegistration<RramMilo, RramMiloConfig> registered("rram_milo");

}  // namespace
}  // namespace zbphw
