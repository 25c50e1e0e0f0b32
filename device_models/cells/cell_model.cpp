#include "device_models/cells/cell_model.hpp"

#include <algorithm>
#include <sstream>

#include "base/error.hpp"

namespace zbphw {
namespace {

// Targets that are computed from weights may miss an end of the range by rounding.
constexpr double rounding = 1e-9;

std::string range_text(double low, double high, const char* unit) {
  std::ostringstream out;
  out << low << " to " << high << " " << unit;
  return out.str();
}

std::string value_text(double value) {
  std::ostringstream out;
  out.precision(10);
  out << value;
  return out.str();
}

void clip_at_zero(double* values, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) values[i] = std::max(values[i], 0.0);
}

}  // namespace

void CellModel::program(const double* target_us, const DeviceRange& devices, double* programmed_us) const {
  const double slack = rounding * g_max_us();
  for (std::size_t i = 0; i < devices.count; ++i) {
    const bool inside = target_us[i] >= g_min_us() - slack && target_us[i] <= g_max_us() + slack;
    if (!inside) {
      throw device_error("cell " + name(), "target conductance " + value_text(target_us[i]) + " uS of device " +
                                               std::to_string(devices.element(i)) + " is outside " +
                                               range_text(g_min_us(), g_max_us(), "uS"));
    }
  }
  program_all(target_us, devices, programmed_us);
  clip_at_zero(programmed_us, devices.count);
}

void CellModel::relax(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                      double* conductance_us) const {
  check_time(t_s);
  relax_all(target_us, programmed_us, devices, t_s, conductance_us);
  clip_at_zero(conductance_us, devices.count);
}

void CellModel::read_noise(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                           double* deviation_us) const {
  check_time(t_s);
  read_noise_all(programmed_us, conductance_us, count, t_s, deviation_us);
}

void CellModel::faults(const DeviceRange& devices, DeviceFault* faults) const {
  std::fill(faults, faults + devices.count, DeviceFault::none);
}

void CellModel::check_time(double t_s) const {
  const TimeRange range = time_range();
  if (!(t_s >= range.first_s && t_s <= range.last_s)) {
    throw device_error("cell " + name(), "t_s = " + value_text(t_s) + " is outside the model's times, " +
                                             range_text(range.first_s, range.last_s, "s after programming"));
  }
}

}  // namespace zbphw
