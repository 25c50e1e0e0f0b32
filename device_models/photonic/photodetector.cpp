#include "device_models/photonic/photodetector.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr double electron_charge_c = 1.602176634e-19;  // exact in the SI

}  // namespace

void describe(Fields& f, PhotodetectorConfig& c) {
  f.number("responsivity_a_per_w", c.responsivity_a_per_w, above(0), "current for light");
  f.number("full_scale_power_mw", c.full_scale_power_mw, above(0), "light at a reading of 1");
  f.number("bandwidth_mhz", c.bandwidth_mhz, at_least(0), "noise bandwidth; 0 means no shot noise");
  f.number("detector_noise_na", c.detector_noise_na, at_least(0), "noise without light, over the whole bandwidth");
}

void photodetector_noise(const PhotodetectorConfig& config, const double* power_fraction, std::size_t count,
                         double* deviation_fraction) {
  const double full_scale_a = config.responsivity_a_per_w * config.full_scale_power_mw * 1e-3;
  const double detector_a = config.detector_noise_na * 1e-9;
  for (std::size_t i = 0; i < count; ++i) {
    if (!(power_fraction[i] >= 0 && std::isfinite(power_fraction[i]))) {
      throw device_error("photodetector " + std::to_string(i),
                         "light of " + std::to_string(power_fraction[i]) + " of full scale is not a power");
    }
    const double shot_square = 2 * electron_charge_c * power_fraction[i] * full_scale_a * config.bandwidth_mhz * 1e6;
    deviation_fraction[i] = std::sqrt(shot_square + detector_a * detector_a) / full_scale_a;
  }
}

}  // namespace zbphw
