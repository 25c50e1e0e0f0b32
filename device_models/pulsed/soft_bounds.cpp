// Steps that shrink to nothing at the bound they run to: f_up = 1 - w / w_max, f_down = 1 - w / w_min
// (Gokmen and Vlasov 2016; soft bounds as in IBM's aihwkit).
#include <algorithm>

#include "device_models/pulsed/pulsed_device.hpp"

namespace zbphw {
namespace {

struct SoftBoundsConfig {};

void describe(Fields&, SoftBoundsConfig&) {}

class SoftBounds : public PulsedDevice {
 public:
  SoftBounds(PulsedCommon common, Json config, const SoftBoundsConfig&)
      : PulsedDevice(std::move(common), std::move(config)) {}

 private:
  double relative_step(double w, const WeightBounds& bounds, bool up) const override {
    return std::max(1 - w / (up ? bounds.high : bounds.low), 0.0);
  }
};

const PulsedRegistration<SoftBounds, SoftBoundsConfig> registered("soft_bounds");

}  // namespace
}  // namespace zbphw
