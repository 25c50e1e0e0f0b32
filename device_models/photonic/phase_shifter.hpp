// The phase shifters of a photonic mesh (thermo-optic, driven by a voltage):
//
//   phase = gamma V^2,  gamma = pi / V_pi^2,
//   gamma_i = gamma (1 + gamma_spread z_i), once for each shifter of a chip,
//   phase_i = sum_k crosstalk[|i - k|] gamma_k V_k^2 + phase_noise z, crosstalk[0] = 1, fresh z for each query.
//
// A phase is set modulo 2 pi on a grid of 2^phase_bits codes; the drive is computed with the nominal gamma and ends at
// V_max. Shifters are indexed in the order of their heaters on the chip, in which the crosstalk is a filter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "device_models/device_range.hpp"

namespace zbphw {

struct PhaseShifterConfig {
  std::string model;
  std::string source;
  double v_pi_v = 0;
  double v_max_v = 0;
  Bits phase_bits;
  double gamma_spread = 0;
  double phase_noise_rad = 0;
  std::vector<double> crosstalk;  // of the heater's phase, at distance 1, 2, ...
};

void describe(Fields& f, PhaseShifterConfig& c);

// From {"preset": "photonic_mesh", ...} or all keys with "model": "phase_shifter". Throws a config Error.
PhaseShifterConfig read_phase_shifter(const RawConfig& config);

class PhaseShifters {
 public:
  explicit PhaseShifters(PhaseShifterConfig config) : config_(std::move(config)) {}

  // The drive for each wanted phase, in radians: phase_rad[count] -> voltage_v[count], from 0 to V_max. Returns how
  // many shifters V_max does not reach, which then stand at V_max. Throws a device Error when a phase is not finite.
  std::size_t drive(const double* phase_rad, std::size_t count, double* voltage_v) const;

  // The phases that a whole chain of shifters has in query number `query`: voltage_v[count] -> phase_rad[count].
  // devices.first must be 0 and devices.count the whole chain when there is crosstalk. Throws a device Error when a
  // voltage is outside 0 to V_max.
  void phases(const double* voltage_v, const DeviceRange& devices, std::uint32_t query, double* phase_rad) const;

 private:
  double gamma() const;

  PhaseShifterConfig config_;
};

}  // namespace zbphw
