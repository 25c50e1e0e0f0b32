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
#include "device_models/line_resistance/fast_solver.hpp"
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
  std::int64_t slices = 1;       // pairs of cells for each weight, of falling significance
  std::int64_t slice_base = 4;   // ratio of their significances
};
void describe(Fields& f, WeightMappingConfig& c);

struct ProgrammingCostConfig {
  double write_ns = 100;  // one write of one device with its verification
  double energy_pj_per_write = 0;
  std::int64_t parallel_writes = 1;  // devices written at the same time, all tiles together
  std::string source = "not stated";
};
void describe(Fields& f, ProgrammingCostConfig& c);

// How the currents of an array with resistive lines are found.
enum class LineSolver {
  exact,  // nodal analysis, factored once for each state of the cells: any number of products after that is cheap
  fast,   // iterations for each query, to a stated residual: cheaper when a state answers a few products only
};
template <>
struct Choices<LineSolver> {
  static std::vector<std::pair<LineSolver, std::string>> all();
};

struct LineConfig {
  LineResistance resistance;
  LineSolver solver = LineSolver::exact;
  double tolerance = 1e-9;  // of the fast solver (FastSolverOptions)
  std::int64_t iteration_limit = 500;

  FastSolverOptions fast_options() const { return {tolerance, static_cast<int>(iteration_limit)}; }
};
void describe(Fields& f, LineConfig& c);

// What differs between the converters of a chip's columns, for life: y = (1 + gain z) y + offset full_scale z'.
struct ColumnMismatchConfig {
  double gain_spread = 0;
  double offset_spread_fraction = 0;
  std::string source = "not stated";
};
void describe(Fields& f, ColumnMismatchConfig& c);

struct CrossbarConfig {
  std::int64_t tile_rows = 256;     // inputs of one array
  std::int64_t tile_columns = 256;  // outputs of one array, a pair of cells each
  RawConfig cell;                   // as make_cell() takes it
  WeightMappingConfig mapping;
  WriteVerifyConfig write_verify;
  ConverterConfig dac;
  std::int64_t input_slice_bits = 0;  // bits of an input's magnitude that are driven at a time; 0: the whole code
  ConverterConfig adc;                // of a column's current; a fixed full_scale is in uS times the DAC's range
  double output_noise_fraction = 0;   // of the ADC's full scale, beside the cells' own read noise
  std::string output_noise_source = "not stated";
  double input_noise_fraction = 0;  // at the DAC's output, of its full scale, fresh for every input and input slice
  std::string input_noise_source = "not stated";
  double comparator_noise_steps = 0;  // of the ADC's decisions, in its steps
  std::string comparator_noise_source = "not stated";
  ColumnMismatchConfig column_mismatch;
  std::optional<LineConfig> lines;
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
  bool programming = true;       // writing errors; without: every device holds its target
  bool device_to_device = true;  // spread between devices, and stuck ones
  bool temperature = true;
  bool drift = true;       // everything that changes after programming
  bool read_noise = true;  // of the cells and of the output
  bool input_noise = true;
  bool comparator_noise = true;
  bool column_mismatch = true;
  bool dac = true;
  bool adc = true;
  bool line_resistance = true;
  bool saturation = true;  // without: converters have the same steps and no end

  static CrossbarEffects none();
};

// Their names, as results show them, each with the member that it names.
// `programming`, `device_to_device` and `temperature` belong to the chip as it is made; the others can be switched
// between queries.
const std::vector<std::pair<std::string, bool CrossbarEffects::*>>& crossbar_effects();

}  // namespace zbphw
