// Phase-change memory of IBM's million-device array: Nandakumar et al., ICECS 2019; Joshi et al., Nature
// Communications 11, 2473 (2020). Equations in pcm_cell.hpp, with clamped logarithms for the drift and
//   Q = min(coefficient / max(g_p^exponent, floor), cap),  g_p = G_p / g_max.
#include <algorithm>
#include <cmath>

#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/curves.hpp"
#include "device_models/cells/pcm_cell.hpp"

namespace zbphw {
namespace {

struct CappedPower {
  double coefficient = 0;
  double exponent = 0;
  double floor = 0;
  double cap = 0;

  double at(double g) const { return std::min(coefficient / std::max(std::pow(g, exponent), floor), cap); }
};

struct PcmJoshiConfig {
  PcmConfig pcm;
  ClampedLog drift_mean;
  ClampedLog drift_sd;
  CappedPower read_noise;
};

void describe(Fields& f, CappedPower& c) {
  f.required().number("coefficient", c.coefficient, at_least(0), "noise at g_max");
  f.required().number("exponent", c.exponent, at_least(0), "how fast it falls with the conductance");
  f.required().number("floor", c.floor, above(0), "smallest value of the power");
  f.required().number("cap", c.cap, at_least(0), "largest noise strength");
}

void describe(Fields& f, PcmJoshiConfig& c) {
  describe_pcm(f, c.pcm);
  f.required().object("drift_mean", c.drift_mean, "mean of the drift exponent over target / g_max");
  f.required().object("drift_sd", c.drift_sd, "standard deviation of the drift exponent");
  f.required().object("read_noise", c.read_noise, "strength Q of the 1/f noise over programmed / g_max");
}

class PcmJoshi : public PcmCell {
 public:
  PcmJoshi(CellIdentity identity, const PcmJoshiConfig& config)
      : PcmCell(std::move(identity), config.pcm), config_(config) {}

 private:
  double drift_mean(double g) const override { return config_.drift_mean.at(g); }
  double drift_sd(double g) const override { return config_.drift_sd.at(g); }
  double noise_strength(double g) const override { return config_.read_noise.at(g); }

  PcmJoshiConfig config_;
};

const CellRegistration<PcmJoshi, PcmJoshiConfig> registered("pcm_joshi");

}  // namespace
}  // namespace zbphw
