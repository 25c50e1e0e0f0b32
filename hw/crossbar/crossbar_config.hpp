// What a device file says about a crossbar: cells, weight mapping, tiles, converters, lines, programming, chip.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "device_models/converters/converter.hpp"
#include "device_models/line_resistance/crossbar_circuit.hpp"
#include "device_models/programming.hpp"
#include "hw/chip/chip_config.hpp"

namespace zbphw {

// Which weight is the largest that a pair of cells represents.
enum class WeightScale {
  per_matrix,  // the matrix's largest magnitude
  per_output,  // the largest magnitude of each output's weights
  fixed,       // weight_full_scale
};
template <>
struct Choices<WeightScale> {
  static std::vector<std::pair<WeightScale, std::string>> all();
};

// A weight is the difference of two cells' conductances: the positive part goes to one, the negative to the other.
struct WeightMappingConfig {
  WeightScale scale = WeightScale::per_matrix;
  double weight_full_scale = 1;  // of a fixed scale
  bool clip = false;             // weights beyond a fixed scale: clipped, or refused
};
void describe(Fields& f, WeightMappingConfig& c);

struct ProgrammingCostConfig {
  double write_ns = 100;  // one write of one device with its verification
  double energy_pj_per_write = 0;
  std::int64_t parallel_writes = 1;  // devices written at the same time, all tiles together
  std::string source = "not stated";
};
void describe(Fields& f, ProgrammingCostConfig& c);

struct CrossbarConfig {
  std::int64_t tile_rows = 256;     // inputs of one array
  std::int64_t tile_columns = 256;  // outputs of one array, a pair of cells each
  RawConfig cell;                   // as make_cell() takes it
  WeightMappingConfig mapping;
  WriteVerifyConfig write_verify;
  ConverterConfig dac;
  ConverterConfig adc;               // of a column's current; a fixed full_scale is in uS times the DAC's range
  double output_noise_fraction = 0;  // of the ADC's full scale, beside the cells' own read noise
  std::string output_noise_source = "not stated";
  std::optional<LineResistance> lines;
  bool drift_compensation = false;  // a digital scale from a calibration run, renewed with the state
  double state_refresh_s = 1;       // how old the state that queries see may become
  std::int64_t calibration_queries = 64;
  ProgrammingCostConfig programming;
  ChipConfig chip;

  CrossbarConfig() {
    adc.range = RangeSource::calibrated;
    adc.headroom = 1.25;
  }
};
void describe(Fields& f, CrossbarConfig& c);

// The effects that can be switched off one by one, to see what each costs.
struct CrossbarEffects {
  bool programming = true;  // writing errors; without: every device holds its target
  bool drift = true;        // everything that changes after programming
  bool read_noise = true;   // of the cells and of the output
  bool dac = true;
  bool adc = true;
  bool line_resistance = true;
  bool saturation = true;  // without: converters have the same steps and no end

  static CrossbarEffects none();
};

// Their names, as results show them, each with the member that it names.
const std::vector<std::pair<std::string, bool CrossbarEffects::*>>& crossbar_effects();

}  // namespace zbphw
