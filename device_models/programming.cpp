#include "device_models/programming.hpp"

#include <algorithm>
#include <cmath>

namespace zbphw {

void describe(Fields& f, WriteVerifyConfig& c) {
  f.integer("max_iterations", c.max_iterations, between(1, 1e6), "largest number of writes of a device");
  f.number("acceptance_us", c.acceptance_us, at_least(0), "largest error that is accepted");
  f.number("correction", c.correction, between(0, 1), "part of the error that the next request is moved by");
}

WriteVerifyResult write_verify(const CellModel& cell, const WriteVerifyConfig& config, const double* target_us,
                               const DeviceRange& devices, double* programmed_us) {
  WriteVerifyResult result;
  result.iterations.resize(devices.count);
  const auto limit = static_cast<std::uint32_t>(config.max_iterations);
  for (std::size_t i = 0; i < devices.count; ++i) {
    DeviceRange device = devices.one(i);
    double request_us = target_us[i];
    bool accepted = false;
    for (device.attempt = 0; device.attempt < limit && !accepted; ++device.attempt) {
      cell.program(&request_us, device, &programmed_us[i]);
      const double error_us = target_us[i] - programmed_us[i];
      accepted = std::abs(error_us) <= config.acceptance_us;
      request_us = std::clamp(request_us + config.correction * error_us, cell.g_min_us(), cell.g_max_us());
    }
    result.iterations[i] = device.attempt;
    if (!accepted) ++result.rejected;
  }
  return result;
}

}  // namespace zbphw
