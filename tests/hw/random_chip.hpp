// Chips and queries drawn at random, for tests of what holds on any of them.
#pragma once

#include "base/random.hpp"
#include "hw/chip/chip_config.hpp"

namespace zbphw {

inline ChipConfig random_chip(const RandomAt& at) {
  ChipConfig chip;
  chip.link.latency_ns = 1000 * at.uniform(0);
  chip.link.bandwidth_gb_per_s = 0.1 + 30 * at.uniform(1);
  chip.link.energy_pj_per_byte = at.uniform(2);
  chip.dac.settle_ns = 5 * at.uniform(3);
  chip.dac.energy_pj = at.uniform(4);
  chip.array.settle_ns = 100 * at.uniform(5);
  chip.array.energy_pj_per_cell = 0.01 * at.uniform(6);
  chip.adc.columns_per_adc = 1 + static_cast<std::int64_t>(at.below(20, 7));
  chip.adc.conversion_base_ns = 3 * at.uniform(8);
  chip.adc.conversion_per_bit_ns = at.uniform(9);
  chip.adc.energy_pj = 2 * at.uniform(10);
  chip.digital.latency_ns = 10 * at.uniform(11);
  chip.digital.energy_pj_per_output = 0.1 * at.uniform(12);
  chip.parallel_rows = 1 + static_cast<std::int64_t>(at.below(9, 13));
  return chip;
}

inline QueryShape random_shape(const RandomAt& at) {
  QueryShape shape;
  shape.inputs = 1 + static_cast<std::int64_t>(at.below(300, 20));
  shape.outputs = 1 + static_cast<std::int64_t>(at.below(300, 21));
  shape.cells = 2 * shape.inputs * shape.outputs;
  shape.dac_bits = 1 + static_cast<int>(at.below(16, 22));
  shape.adc_bits = 1 + static_cast<int>(at.below(16, 23));
  shape.partial_sums = 1 + static_cast<std::int64_t>(at.below(4, 24));
  shape.input_slices = 1 + static_cast<std::int64_t>(at.below(4, 25));
  return shape;
}

}  // namespace zbphw
