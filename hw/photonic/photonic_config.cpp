#include "hw/photonic/photonic_config.hpp"

namespace zbphw {

void describe(Fields& f, PhotonicConfig& c) {
  f.object("dac", c.dac, "converters of the inputs");
  f.object("adc", c.adc, "converters behind the detectors");
  f.raw("shifters", c.shifters, "phase shifters: a preset or all keys of one");
  f.object("detector", c.detector, "photodiodes at the outputs");
  f.integer("calibration_queries", c.calibration_queries, between(1, 1 << 16),
            "normal inputs that a calibrated ADC range is taken from");
  f.number("heater_power_mw", c.heater_power_mw, at_least(0), "of one phase shifter, on average, while a query lasts");
  f.text("parts_source", c.parts_source, "where the shifters' spread, noise and crosstalk and the detector are from");
  f.object("chip", c.chip, "time and energy; a cell is a phase shifter");
  f.require(c.dac.dither == Dither::none, "dac.dither", "a photonic mesh drives its inputs without dither");
  f.require(c.dac.range != RangeSource::calibrated, "dac.range", "allowed: fixed or per_input");
  f.require(c.adc.range != RangeSource::per_input, "adc.range", "allowed: fixed or calibrated");
}

ChipConfig heated_chip(const PhotonicConfig& config, const QueryShape& shape) {
  ChipConfig chip = config.chip;
  chip.array.energy_pj_per_cell += config.heater_power_mw * query_timing(chip, shape).latency_s() * 1e9;  // mW ns
  return chip;
}

}  // namespace zbphw
