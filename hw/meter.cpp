#include "hw/meter.hpp"

namespace zbphw {

EnergyByComponent& EnergyByComponent::operator+=(const EnergyByComponent& other) {
  link_j += other.link_j;
  dac_j += other.dac_j;
  array_j += other.array_j;
  adc_j += other.adc_j;
  digital_j += other.digital_j;
  programming_j += other.programming_j;
  return *this;
}

EnergyByComponent EnergyByComponent::scaled(double factor) const {
  return {link_j * factor, dac_j * factor,     array_j * factor,
          adc_j * factor,  digital_j * factor, programming_j * factor};
}

Json energy_pj(const EnergyByComponent& energy) {
  constexpr double pj = 1e12;
  return {{"link", energy.link_j * pj}, {"dac", energy.dac_j * pj},         {"array", energy.array_j * pj},
          {"adc", energy.adc_j * pj},   {"digital", energy.digital_j * pj}, {"programming", energy.programming_j * pj}};
}

Meter& Meter::operator+=(const Meter& other) {
  queries += other.queries;
  dac_conversions += other.dac_conversions;
  adc_conversions += other.adc_conversions;
  saturated_inputs += other.saturated_inputs;
  saturated_outputs += other.saturated_outputs;
  busy_s += other.busy_s;
  energy += other.energy;
  return *this;
}

}  // namespace zbphw
