// The receiver of a photonic mesh: a photodiode with shot noise and the noise of its amplifier.
//
//   I = responsivity P,  s_I^2 = 2 q I bandwidth + detector_noise^2.
//
// Light is given as a fraction of full_scale_power_mw, and so are readings: what is added is s_I / I_full z.
#pragma once

#include <cstddef>

#include "base/fields.hpp"

namespace zbphw {

struct PhotodetectorConfig {
  double responsivity_a_per_w = 1;
  double full_scale_power_mw = 1;
  double bandwidth_mhz = 0;
  double detector_noise_na = 0;
};

void describe(Fields& f, PhotodetectorConfig& c);

// The standard deviation of a reading at each power: power_fraction[count] -> deviation_fraction[count], both of full
// scale. Throws a device Error when a power is negative or not finite.
void photodetector_noise(const PhotodetectorConfig& config, const double* power_fraction, std::size_t count,
                         double* deviation_fraction);

}  // namespace zbphw
