// What a device file says about an analog activation block (softmax score core, SwiGLU gate) and its two ports.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "device_models/converters/converter.hpp"
#include "hw/chip/chip_config.hpp"

namespace zbphw {

// Which effects are simulated. `ideal`: the exact transfer function; the chip's time and energy are still booked.
// `noisy`: device models, every block with a clock of its own. `systemc`: the same models in one chip's time, which
// passes for every block while any of them works.
enum class Fidelity { ideal, noisy, systemc };
template <>
struct Choices<Fidelity> {
  static std::vector<std::pair<Fidelity, std::string>> all();
};

// How a block's analog core ages between two calibrations; a calibration resets both.
struct CoreDriftConfig {
  double gain_exponent = 0;  // gain(t) = (1 + t / gain_t0_s)^-gain_exponent
  double gain_t0_s = 1;
  double offset_ramp_fraction_per_s =
      0;  // each output's offset grows by r_j * full scale * t, r_j normal with this deviation
  double calibration_period_s = 0.1;
  std::string source = "not stated";
};
void describe(Fields& f, CoreDriftConfig& c);

struct ActivationBlockConfig {
  ConverterConfig dac;
  ConverterConfig adc;
  double read_noise_fraction = 0;  // standard deviation at the ADC's input, of its full scale
  std::string read_noise_source = "not stated";
  CoreDriftConfig drift;
  ChipConfig chip;
};
void describe(Fields& f, ActivationBlockConfig& c);

// The same block with every effect off: exact transfer, ideal ports, the chip's timing kept.
ActivationBlockConfig without_effects(const ActivationBlockConfig& config);

}  // namespace zbphw
