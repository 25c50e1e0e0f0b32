#include "hw/equilibrium/equilibrium_config.hpp"

namespace zbphw {

void describe(Fields& f, BenchDynamicsConfig& c) {
  f.number("gain", c.gain, above_up_to(0, 100), "||A|| ||B|| of dz/dt = (x - z + B tanh(A z)) / tau; settles below 1");
  f.flag("reciprocal", c.reciprocal, "B = A^T: the forces come from an energy");
}

void describe(Fields& f, RelaxationConfig& c) {
  f.number("step", c.step, above_up_to(0, 1), "of the simulated relaxation, in time constants");
  f.number("tolerance", c.tolerance, above_up_to(0, 1), "settled when a step moves the state by less, relative to it");
  f.integer("most_steps", c.most_steps, between(1, 1000000), "of a relaxation that does not settle");
}

void describe(Fields& f, EquilibriumConfig& c) {
  f.object("dac", c.dac, "converter of the clamped inputs");
  f.object("adc", c.adc, "converter of the state");
  f.object("dynamics", c.dynamics, "the network that relaxes");
  f.object("relaxation", c.relaxation, "step and end of the relaxation");
  f.number("time_constant_spread", c.time_constant_spread, between(0, 0.3),
           "relative deviation of a node's time constant");
  f.number("dynamics_noise_fraction", c.dynamics_noise_fraction, between(0, 1),
           "noise inside the dynamics: what a node without neighbours fluctuates by, of the ADC's full scale");
  f.number("read_noise_fraction", c.read_noise_fraction, between(0, 1), "noise of one read, of the ADC's full scale");
  f.integer("reads", c.reads, between(1, 4096), "reads of a settled state that are averaged");
  f.text("noise_source", c.noise_source, "where the noises and the spread are from");
  f.require(c.dac.dither == Dither::none, "dac.dither", "an equilibrium block drives its inputs without dither");
  f.require(c.dac.range != RangeSource::calibrated, "dac.range", "an equilibrium block has no calibration run");
  f.require(c.adc.range != RangeSource::calibrated, "adc.range", "an equilibrium block has no calibration run");
  f.object("drift", c.drift, "drift of the readout between calibrations");
  f.object("chip", c.chip, "time and energy; array.settle_ns and energy_pj_per_cell are of one time constant");
}

EquilibriumConfig without_effects(const EquilibriumConfig& config) {
  EquilibriumConfig exact = config;
  exact.dac.bits.reset();
  exact.adc.bits.reset();
  exact.time_constant_spread = 0;
  exact.dynamics_noise_fraction = 0;
  exact.read_noise_fraction = 0;
  exact.reads = 1;
  exact.drift.gain_exponent = 0;
  exact.drift.offset_ramp_fraction_per_s = 0;
  return exact;
}

ChipConfig relaxing_chip(const ChipConfig& chip, double time_constants) {
  ChipConfig relaxing = chip;
  relaxing.array.settle_ns *= time_constants;
  relaxing.array.energy_pj_per_cell *= time_constants;
  return relaxing;
}

}  // namespace zbphw
