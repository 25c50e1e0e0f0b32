#include "device_models/photonic/phase_shifter.hpp"

#include <algorithm>
#include <cmath>

#include "base/config_path.hpp"
#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr double pi = 3.14159265358979323846;
constexpr std::uint64_t gamma_stream = stream_id("phase shifter gamma");
constexpr std::uint64_t noise_stream = stream_id("phase shifter noise");

// The phase modulo 2 pi, on the grid: from 0 to below 2 pi.
double on_grid(double phase_rad, const Bits& bits) {
  double turns = phase_rad / (2 * pi);
  turns -= std::floor(turns);
  if (bits) {
    const double codes = std::exp2(*bits);
    turns = std::round(turns * codes) / codes;
  }
  return turns >= 1 ? 0 : 2 * pi * turns;  // the code after the last is the first
}

}  // namespace

void describe(Fields& f, PhaseShifterConfig& c) {
  f.required().text("model", c.model, "\"phase_shifter\"");
  f.require(c.model == "phase_shifter", "model", "got \"" + c.model + "\"; allowed: phase_shifter");
  f.text("source", c.source, "where the constants come from");
  f.required().number("v_pi_v", c.v_pi_v, above(0), "drive for a phase of pi");
  f.required().number("v_max_v", c.v_max_v, above(0), "largest drive");
  f.required().bits("phase_bits", c.phase_bits, "resolution of a phase over a full turn");
  f.number("gamma_spread", c.gamma_spread, at_least(0), "standard deviation of the shifters' gamma, relative");
  f.number("phase_noise_rad", c.phase_noise_rad, at_least(0), "standard deviation of a phase in each query");
  f.numbers("crosstalk", c.crosstalk, between(0, 1), "part of a heater's phase at its neighbours, nearest first");
}

PhaseShifterConfig read_phase_shifter(const RawConfig& config) {
  std::string where = config.where;
  const Json json = expand_preset(config.value, "devices/presets", where);
  return read_config<PhaseShifterConfig>(json, where);
}

double PhaseShifters::gamma() const { return pi / (config_.v_pi_v * config_.v_pi_v); }

std::size_t PhaseShifters::drive(const double* phase_rad, std::size_t count, double* voltage_v) const {
  std::size_t unreached = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!std::isfinite(phase_rad[i])) {
      throw device_error("phase shifter " + std::to_string(i), "the wanted phase is not a finite number");
    }
    const double voltage = std::sqrt(on_grid(phase_rad[i], config_.phase_bits) / gamma());
    if (voltage > config_.v_max_v) ++unreached;
    voltage_v[i] = std::min(voltage, config_.v_max_v);
  }
  return unreached;
}

void PhaseShifters::phases(const double* voltage_v, const DeviceRange& devices, std::uint32_t query,
                           double* phase_rad) const {
  const RandomAt gamma_at = devices.for_life(gamma_stream);
  const RandomAt noise_at = devices.for_write(noise_stream).with_query(query);
  const std::size_t count = devices.count;
  std::vector<double> own_rad(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!(voltage_v[i] >= 0 && voltage_v[i] <= config_.v_max_v)) {
      throw device_error(
          "phase shifter " + std::to_string(devices.element(i)),
          "drive " + std::to_string(voltage_v[i]) + " V is outside 0 to " + std::to_string(config_.v_max_v) + " V");
    }
    const double spread = 1 + config_.gamma_spread * gamma_at.normal(devices.element(i));
    own_rad[i] = gamma() * spread * voltage_v[i] * voltage_v[i];
  }
  for (std::size_t i = 0; i < count; ++i) {
    double phase = own_rad[i] + config_.phase_noise_rad * noise_at.normal(devices.element(i));
    for (std::size_t distance = 1; distance <= config_.crosstalk.size(); ++distance) {
      if (i >= distance) phase += config_.crosstalk[distance - 1] * own_rad[i - distance];
      if (i + distance < count) phase += config_.crosstalk[distance - 1] * own_rad[i + distance];
    }
    phase_rad[i] = phase;
  }
}

}  // namespace zbphw
