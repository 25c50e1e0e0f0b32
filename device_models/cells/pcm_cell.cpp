#include "device_models/cells/pcm_cell.hpp"

#include <cmath>

#include "device_models/cells/curves.hpp"
#include "device_models/cells/streams.hpp"

namespace zbphw {

void describe_pcm(Fields& f, PcmConfig& c) {
  f.required().number("g_max_us", c.g_max_us, above(0), "largest conductance that is programmed");
  f.required().number("t0_s", c.t0_s, above(0), "time from programming to the first reading, where t_s begins");
  f.required().number("t_read_ns", c.t_read_ns, above(0), "duration of a read, for the 1/f noise");
  describe_polynomial(f, "programming_sd_us", c.programming_sd_us,
                      "programming noise: coefficients in g = target / g_max, constant first");
}

void PcmCell::program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const {
  const RandomAt at = devices.for_attempt(programming_stream);
  for (std::size_t i = 0; i < devices.count; ++i) {
    const double deviation_us = polynomial(config_.programming_sd_us, target_us[i] / config_.g_max_us);
    programmed_us[i] = target_us[i] + deviation_us * at.normal(devices.element(i));
  }
}

void PcmCell::relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                        double* conductance_us) const {
  const RandomAt at = devices.for_write(drift_stream);
  const double log_age = std::log((t_s + config_.t0_s) / config_.t0_s);
  for (std::size_t i = 0; i < devices.count; ++i) {
    const double g = target_us[i] / config_.g_max_us;
    const double nu = std::abs(drift_mean(g) + drift_sd(g) * at.normal(devices.element(i)));
    conductance_us[i] = programmed_us[i] * std::exp(-nu * log_age);
  }
}

void PcmCell::read_noise_all(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                             double* deviation_us) const {
  const double t_read_s = config_.t_read_ns * 1e-9;
  const double growth = std::sqrt(std::log((t_s + config_.t0_s + t_read_s) / (2 * t_read_s)));
  for (std::size_t i = 0; i < count; ++i) {
    deviation_us[i] = conductance_us[i] * noise_strength(programmed_us[i] / config_.g_max_us) * growth;
  }
}

}  // namespace zbphw
