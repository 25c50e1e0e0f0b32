// What a device file says about a block that answers by relaxing to a fixed point.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "device_models/converters/converter.hpp"
#include "hw/block_config.hpp"
#include "hw/chip/chip_config.hpp"

namespace zbphw {

// The network on the bench: dz/dt = (x - z + B tanh(A z)) / tau, with A and B drawn from the chip's seed.
struct BenchDynamicsConfig {
  // ||A|| ||B||, the most by which the loop multiplies a small deviation; below 1 there is one fixed point and every
  // start reaches it.
  double gain = 0.8;
  // B = A^T: forces come from an energy and the Jacobian is symmetric. Otherwise B is drawn on its own.
  bool reciprocal = true;
};
void describe(Fields& f, BenchDynamicsConfig& c);

// How far and how finely the relaxation goes: z <- z + step F(z) until step ||F|| / ||z|| < tolerance.
struct RelaxationConfig {
  double step = 0.1;  // in time constants
  double tolerance = 1e-4;
  std::int64_t most_steps = 2000;
};
void describe(Fields& f, RelaxationConfig& c);

struct EquilibriumConfig {
  ConverterConfig dac;  // of the clamped inputs
  ConverterConfig adc;  // of the state
  BenchDynamicsConfig dynamics;
  RelaxationConfig relaxation;
  double time_constant_spread = 0;     // relative deviation of a node's time constant, fixed for a chip
  double dynamics_noise_fraction = 0;  // what a node without neighbours would fluctuate by, of full scale
  double read_noise_fraction = 0;      // of one read of one node, of full scale
  std::int64_t reads = 1;              // R: reads of the same settled state that are averaged
  std::string noise_source = "not stated";
  CoreDriftConfig drift;  // of the readout
  // array.settle_ns is the time constant tau, and array.energy_pj_per_cell what a crosspoint takes in that time.
  ChipConfig chip;
};
void describe(Fields& f, EquilibriumConfig& c);

// The same block with every effect off, relaxed to rounding.
EquilibriumConfig without_effects(const EquilibriumConfig& config);

// The chip as it serves a query that relaxes for so many time constants.
ChipConfig relaxing_chip(const ChipConfig& chip, double time_constants);

}  // namespace zbphw
