// Charge-trap (SONOS) memory: Agrawal et al. (2022), whose fits speak of the cell current I at one read voltage:
//   spread around the target s = A (1 - exp(-I / B)), with A and B known at a few times and linear between;
//   read noise of the same form.
// Conductance here is I / read_voltage_v. The voltage only sets the unit: relative errors do not depend on it.
#include <cmath>

#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/spread_cell.hpp"

namespace zbphw {
namespace {

constexpr double us_per_nanosiemens = 1e-3;

struct SaturatingSpread {
  double a_na = 0;
  double b_na = 1;

  double at(double current_na) const { return a_na * (1 - std::exp(-current_na / b_na)); }
};

struct SpreadAt {
  double t_s = 0;
  SaturatingSpread spread;
};

struct SonosConfig {
  double current_max_na = 0;
  double read_voltage_v = 0;
  std::vector<SpreadAt> spread;
  SaturatingSpread read_noise;
};

void describe(Fields& f, SaturatingSpread& c) {
  f.required().number("a_na", c.a_na, at_least(0), "spread at large currents");
  f.required().number("b_na", c.b_na, above(0), "current over which the spread saturates");
}

void describe(Fields& f, SpreadAt& c) {
  f.required().number("t_s", c.t_s, at_least(0), "time since programming");
  describe(f, c.spread);
}

bool rises(const std::vector<SpreadAt>& spread) {
  for (std::size_t k = 1; k < spread.size(); ++k) {
    if (spread[k].t_s <= spread[k - 1].t_s) return false;
  }
  return !spread.empty();
}

void describe(Fields& f, SonosConfig& c) {
  f.required().number("current_max_na", c.current_max_na, above(0), "largest current that is programmed");
  f.required().number("read_voltage_v", c.read_voltage_v, above(0), "conductance is current / this voltage");
  f.required().objects("spread", c.spread, "spread around the target at measured times, in order");
  f.required().object("read_noise", c.read_noise, "standard deviation of one read");
  f.require(rises(c.spread), "spread", "needs at least one entry, and times that rise");
}

class Sonos : public SpreadCell {
 public:
  Sonos(CellIdentity identity, const SonosConfig& config) : SpreadCell(std::move(identity)), config_(config) {}

  double g_min_us() const override { return 0; }
  double g_max_us() const override { return conductance_us(config_.current_max_na); }
  TimeRange time_range() const override { return {config_.spread.front().t_s, config_.spread.back().t_s}; }

 private:
  double conductance_us(double current_na) const { return us_per_nanosiemens * current_na / config_.read_voltage_v; }
  double current_na(double g_us) const { return g_us * config_.read_voltage_v / us_per_nanosiemens; }

  double spread_us(double target_us, double t_s) const override {
    const std::vector<SpreadAt>& spread = config_.spread;
    std::size_t next = 0;
    while (spread[next].t_s < t_s) ++next;
    SaturatingSpread now = spread[next].spread;
    if (spread[next].t_s > t_s) {
      const SpreadAt& before = spread[next - 1];
      const double share = (t_s - before.t_s) / (spread[next].t_s - before.t_s);
      now.a_na = before.spread.a_na + share * (now.a_na - before.spread.a_na);
      now.b_na = before.spread.b_na + share * (now.b_na - before.spread.b_na);
    }
    return conductance_us(now.at(current_na(target_us)));
  }

  void read_noise_all(const double*, const double* g_us, std::size_t count, double,
                      double* deviation_us) const override {
    for (std::size_t i = 0; i < count; ++i) {
      deviation_us[i] = conductance_us(config_.read_noise.at(current_na(g_us[i])));
    }
  }

  SonosConfig config_;
};

const CellRegistration<Sonos, SonosConfig> registered("sonos");

}  // namespace
}  // namespace zbphw
