#include "hw/block_config.hpp"

namespace zbphw {

std::vector<std::pair<Fidelity, std::string>> Choices<Fidelity>::all() {
  return {{Fidelity::ideal, "ideal"}, {Fidelity::noisy, "noisy"}, {Fidelity::systemc, "systemc"}};
}

void describe(Fields& f, CoreDriftConfig& c) {
  f.number("gain_exponent", c.gain_exponent, between(0, 1), "gain falls as (1 + t / gain_t0_s)^-exponent");
  f.number("gain_t0_s", c.gain_t0_s, above(0), "time constant of the gain drift");
  f.number("offset_ramp_fraction_per_s", c.offset_ramp_fraction_per_s, at_least(0),
           "deviation of the outputs' offset ramps, of full scale a second");
  f.number("calibration_period_s", c.calibration_period_s, above(0), "time between two calibrations");
  f.text("source", c.source, "where these constants are from");
}

void describe(Fields& f, ActivationBlockConfig& c) {
  f.object("dac", c.dac, "input converter");
  f.object("adc", c.adc, "output converter");
  f.number("read_noise_fraction", c.read_noise_fraction, at_least(0), "read noise at the ADC, of its full scale");
  f.text("read_noise_source", c.read_noise_source, "where the read noise is from");
  // Probes are drawn against inputs whose codes are known before they are driven.
  f.require(c.dac.dither == Dither::none, "dac.dither", "an activation block drives its inputs without dither");
  f.require(c.dac.range != RangeSource::calibrated, "dac.range", "an activation block has no calibration run");
  f.require(c.adc.range != RangeSource::calibrated, "adc.range", "an activation block has no calibration run");
  f.object("drift", c.drift, "drift between calibrations");
  f.object("chip", c.chip, "time and energy");
}

ActivationBlockConfig without_effects(const ActivationBlockConfig& config) {
  ActivationBlockConfig exact = config;
  exact.dac.bits.reset();
  exact.adc.bits.reset();
  exact.read_noise_fraction = 0;
  exact.drift.gain_exponent = 0;
  exact.drift.offset_ramp_fraction_per_s = 0;
  return exact;
}

}  // namespace zbphw
