// What a device file says about a photonic mesh that holds a matrix.
#pragma once

#include <cstdint>
#include <string>

#include "base/fields.hpp"
#include "device_models/converters/converter.hpp"
#include "device_models/photonic/phase_shifter.hpp"
#include "device_models/photonic/photodetector.hpp"
#include "hw/chip/chip_config.hpp"

namespace zbphw {

struct PhotonicConfig {
  ConverterConfig dac;  // drives the modulators
  ConverterConfig adc;  // behind the detectors, in amplitudes of the normalised field
  RawConfig shifters;   // {"preset": "photonic_mesh", "phase_bits": 8, ...}
  PhotodetectorConfig detector;
  std::int64_t calibration_queries = 64;
  double heater_power_mw = 0;               // of one shifter, on average; heaters burn as long as a query lasts
  std::string parts_source = "not stated";  // where the shifters' spread, noise and crosstalk and the detector are from
  // array.settle_ns is the detectors' response.
  ChipConfig chip;
};
void describe(Fields& f, PhotonicConfig& c);

// The chip with the heaters' energy of one query in its array.
ChipConfig heated_chip(const PhotonicConfig& config, const QueryShape& shape);

}  // namespace zbphw
