// Resistive memory of the NeuRRAM chip: Wan et al., Nature 608, 504 (2022). The spread around the target is a
// polynomial at each of a few measured times, and between them linear in ln t. There is no read noise of its own: the
// fit is of single reads. Two fits of the same chip are shipped.
#include <cmath>

#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/curves.hpp"
#include "device_models/cells/spread_cell.hpp"

namespace zbphw {
namespace {

struct SpreadAt {
  double t_s = 0;
  std::vector<double> sd_us;  // polynomial in target / unit_us
};

struct RramWanConfig {
  double g_max_us = 0;
  double unit_us = 0;
  std::vector<SpreadAt> spread;
};

void describe(Fields& f, SpreadAt& c) {
  f.required().number("t_s", c.t_s, above(0), "time since programming");
  describe_polynomial(f, "sd_us", c.sd_us, "spread: coefficients in target / unit_us, constant first");
}

bool rises(const std::vector<SpreadAt>& spread) {
  for (std::size_t k = 1; k < spread.size(); ++k) {
    if (spread[k].t_s <= spread[k - 1].t_s) return false;
  }
  return !spread.empty();
}

void describe(Fields& f, RramWanConfig& c) {
  f.required().number("g_max_us", c.g_max_us, above(0), "largest conductance that is programmed");
  f.required().number("unit_us", c.unit_us, above(0), "the polynomials' argument is target / unit_us");
  f.required().objects("spread", c.spread, "spread around the target at measured times, in order");
  f.require(rises(c.spread), "spread", "needs at least one entry, and times that rise");
}

class RramWan : public SpreadCell {
 public:
  RramWan(CellIdentity identity, const RramWanConfig& config) : SpreadCell(std::move(identity)), config_(config) {}

  double g_min_us() const override { return 0; }
  double g_max_us() const override { return config_.g_max_us; }
  TimeRange time_range() const override { return {config_.spread.front().t_s, config_.spread.back().t_s}; }

 private:
  double spread_us(double target_us, double t_s) const override {
    const std::vector<SpreadAt>& spread = config_.spread;
    const double x = target_us / config_.unit_us;
    std::size_t next = 0;
    while (spread[next].t_s < t_s) ++next;
    const double after = polynomial(spread[next].sd_us, x);
    if (spread[next].t_s == t_s) return after;
    const double before = polynomial(spread[next - 1].sd_us, x);
    const double share = std::log(t_s / spread[next - 1].t_s) / std::log(spread[next].t_s / spread[next - 1].t_s);
    return before + share * (after - before);
  }

  void read_noise_all(const double*, const double*, std::size_t count, double, double* deviation_us) const override {
    for (std::size_t i = 0; i < count; ++i) deviation_us[i] = 0;
  }

  RramWanConfig config_;
};

const CellRegistration<RramWan, RramWanConfig> registered("rram_wan");

}  // namespace
}  // namespace zbphw
