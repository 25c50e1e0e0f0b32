// Steps that change linearly with the weight: f_up = 1 - slope_up w / w_max, f_down = 1 - slope_down w / w_min.
// A slope of 0 is a constant step, a slope of 1 are soft bounds. As fitted to electrochemical memory by Tang et al.,
// IEDM 2018.
#include <algorithm>

#include "device_models/pulsed/pulsed_device.hpp"

namespace zbphw {
namespace {

struct LinearStepConfig {
  double slope_up = 0;
  double slope_down = 0;
};

void describe(Fields& f, LinearStepConfig& c) {
  f.required().number("slope_up", c.slope_up, any_number(), "part of the up step that is lost at w_max");
  f.required().number("slope_down", c.slope_down, any_number(), "part of the down step that is lost at w_min");
}

class LinearStep : public PulsedDevice {
 public:
  LinearStep(PulsedCommon common, Json config, const LinearStepConfig& own)
      : PulsedDevice(std::move(common), std::move(config)), own_(own) {}

 private:
  double relative_step(double w, const WeightBounds& bounds, bool up) const override {
    return std::max(up ? 1 - own_.slope_up * w / bounds.high : 1 - own_.slope_down * w / bounds.low, 0.0);
  }

  LinearStepConfig own_;
};

const PulsedRegistration<LinearStep, LinearStepConfig> registered("linear_step");

}  // namespace
}  // namespace zbphw
