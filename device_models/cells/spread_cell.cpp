#include "device_models/cells/spread_cell.hpp"

#include "device_models/cells/streams.hpp"

namespace zbphw {

void SpreadCell::program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const {
  const RandomAt at = devices.for_attempt(programming_stream);
  const double start_s = time_range().first_s;
  for (std::size_t i = 0; i < devices.count; ++i) {
    programmed_us[i] = target_us[i] + spread_us(target_us[i], start_s) * at.normal(devices.element(i));
  }
}

void SpreadCell::relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                           double* conductance_us) const {
  const double start_s = time_range().first_s;
  for (std::size_t i = 0; i < devices.count; ++i) {
    const double start_us = spread_us(target_us[i], start_s);
    const double growth = start_us == 0 ? 1 : spread_us(target_us[i], t_s) / start_us;
    conductance_us[i] = growth == 1 ? programmed_us[i] : target_us[i] + growth * (programmed_us[i] - target_us[i]);
  }
}

}  // namespace zbphw
