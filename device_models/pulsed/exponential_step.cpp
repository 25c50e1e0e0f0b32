// Steps that end exponentially: with z = 2 scale w / (w_max - w_min) + offset,
//   f_up = max(0, 1 - a_up exp(gamma_up z)),  f_down = max(0, 1 - a_down exp(-gamma_down z))
// (the exponential step of IBM's aihwkit, used for filamentary resistive memory; Gong et al. 2018).
#include <algorithm>
#include <cmath>

#include "device_models/pulsed/pulsed_device.hpp"

namespace zbphw {
namespace {

struct ExponentialStepConfig {
  double scale = 0;
  double offset = 0;
  double a_up = 0;
  double a_down = 0;
  double gamma_up = 0;
  double gamma_down = 0;
};

void describe(Fields& f, ExponentialStepConfig& c) {
  f.required().number("scale", c.scale, any_number(), "factor of the weight inside the exponential");
  f.required().number("offset", c.offset, any_number(), "shift of the weight inside the exponential");
  f.required().number("a_up", c.a_up, at_least(0), "part of the up step that is lost at z = 0");
  f.required().number("a_down", c.a_down, at_least(0), "part of the down step that is lost at z = 0");
  f.required().number("gamma_up", c.gamma_up, any_number(), "how fast the up step ends");
  f.required().number("gamma_down", c.gamma_down, any_number(), "how fast the down step ends");
}

class ExponentialStep : public PulsedDevice {
 public:
  ExponentialStep(PulsedCommon common, Json config, const ExponentialStepConfig& own)
      : PulsedDevice(std::move(common), std::move(config)), own_(own) {}

 private:
  double relative_step(double w, const WeightBounds& bounds, bool up) const override {
    const double z = 2 * own_.scale * w / (bounds.high - bounds.low) + own_.offset;
    const double lost = up ? own_.a_up * std::exp(own_.gamma_up * z) : own_.a_down * std::exp(-own_.gamma_down * z);
    return std::max(1 - lost, 0.0);
  }

  ExponentialStepConfig own_;
};

const PulsedRegistration<ExponentialStep, ExponentialStepConfig> registered("exponential_step");

}  // namespace
}  // namespace zbphw
