// Steps that are a power of the way left to the bound: with u = (w_max - w) / (w_max - w_min),
//   f_up = u^gamma_up,  f_down = (1 - u)^gamma_down  (the power step of IBM's aihwkit).
#include <algorithm>
#include <cmath>

#include "device_models/pulsed/pulsed_device.hpp"

namespace zbphw {
namespace {

struct PowerStepConfig {
  double gamma_up = 0;
  double gamma_down = 0;
};

void describe(Fields& f, PowerStepConfig& c) {
  f.required().number("gamma_up", c.gamma_up, at_least(0), "exponent of the up step");
  f.required().number("gamma_down", c.gamma_down, at_least(0), "exponent of the down step");
}

class PowerStep : public PulsedDevice {
 public:
  PowerStep(PulsedCommon common, Json config, const PowerStepConfig& own)
      : PulsedDevice(std::move(common), std::move(config)), own_(own) {}

 private:
  double relative_step(double w, const WeightBounds& bounds, bool up) const override {
    // A weight that was not made by pulse() may lie outside this device's bounds.
    const double left = std::clamp((bounds.high - w) / (bounds.high - bounds.low), 0.0, 1.0);
    return up ? std::pow(left, own_.gamma_up) : std::pow(1 - left, own_.gamma_down);
  }

  PowerStepConfig own_;
};

const PulsedRegistration<PowerStep, PowerStepConfig> registered("power_step");

}  // namespace
}  // namespace zbphw
