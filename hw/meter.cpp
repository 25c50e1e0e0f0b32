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

Json meter_to_json(const Meter& meter) {
  const EnergyByComponent& e = meter.energy;
  return {{"queries", meter.queries},
          {"dac_conversions", meter.dac_conversions},
          {"adc_conversions", meter.adc_conversions},
          {"saturated_inputs", meter.saturated_inputs},
          {"saturated_outputs", meter.saturated_outputs},
          {"busy_s", meter.busy_s},
          {"energy_j", {e.link_j, e.dac_j, e.array_j, e.adc_j, e.digital_j, e.programming_j}}};
}

Meter meter_from_json(const Json& json) {
  Meter meter;
  meter.queries = json.at("queries").get<std::int64_t>();
  meter.dac_conversions = json.at("dac_conversions").get<std::int64_t>();
  meter.adc_conversions = json.at("adc_conversions").get<std::int64_t>();
  meter.saturated_inputs = json.at("saturated_inputs").get<std::int64_t>();
  meter.saturated_outputs = json.at("saturated_outputs").get<std::int64_t>();
  meter.busy_s = json.at("busy_s").get<double>();
  const Json& e = json.at("energy_j");
  meter.energy = {e.at(0).get<double>(), e.at(1).get<double>(), e.at(2).get<double>(),
                  e.at(3).get<double>(), e.at(4).get<double>(), e.at(5).get<double>()};
  return meter;
}

}  // namespace zbphw
