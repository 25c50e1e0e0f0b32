// What a block has done so far: queries, conversions, saturation, time and energy by component.
#pragma once

#include <cstdint>

#include "base/json.hpp"

namespace zbphw {

// Joules by component of the chip.
struct EnergyByComponent {
  double link_j = 0;
  double dac_j = 0;
  double array_j = 0;  // the array or analog core itself
  double adc_j = 0;
  double digital_j = 0;
  double programming_j = 0;

  double total_j() const { return link_j + dac_j + array_j + adc_j + digital_j + programming_j; }
  EnergyByComponent& operator+=(const EnergyByComponent& other);
  EnergyByComponent scaled(double factor) const;
};

// {"link": .., "dac": .., ...} in picojoules, as results and traces name them.
Json energy_pj(const EnergyByComponent& energy);

struct Meter {
  std::int64_t queries = 0;
  std::int64_t dac_conversions = 0;
  std::int64_t adc_conversions = 0;
  std::int64_t saturated_inputs = 0;   // conversions outside the DAC's range
  std::int64_t saturated_outputs = 0;  // conversions outside the ADC's range
  double busy_s = 0;                   // time spent on queries and programming
  EnergyByComponent energy;

  Meter& operator+=(const Meter& other);
};

// All fields, exactly: for checkpoints.
Json meter_to_json(const Meter& meter);
Meter meter_from_json(const Json& json);

}  // namespace zbphw
