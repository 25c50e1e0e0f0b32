// Data converters: what a DAC or an ADC does to a value.
//
// A converter has a range [low, high] and a grid of codes over it. Grid conventions differ between tools and mislead
// users, so ours is always named:
//   mid_tread   zero is a code; 2^b - 1 levels, symmetric range
//   mid_rise    zero lies between two codes; 2^b levels
//   end_point   2^b levels over [low, high] with both ends as codes
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "device_models/converters/quantiser.hpp"

namespace zbphw {

enum class Grid { mid_tread, mid_rise, end_point };
// fixed: the range is full_scale. per_input: it follows the largest magnitude of the row being converted. calibrated:
// it is set once, from the largest magnitude of a calibration run.
enum class RangeSource { fixed, per_input, calibrated };

template <>
struct Choices<Grid> {
  static std::vector<std::pair<Grid, std::string>> all();
};
template <>
struct Choices<Dither> {
  static std::vector<std::pair<Dither, std::string>> all();
};
template <>
struct Choices<RangeSource> {
  static std::vector<std::pair<RangeSource, std::string>> all();
};

struct ConverterConfig {
  Bits bits = 8;
  Grid grid = Grid::mid_tread;
  Dither dither = Dither::none;
  RangeSource range = RangeSource::per_input;
  double full_scale = 1;     // top of a fixed range, in the port's units
  double low_fraction = -1;  // bottom of the range as a fraction of its top: -1 bipolar, 0 unipolar
  double headroom = 1;       // a per_input or calibrated range is the largest magnitude times this
};
void describe(Fields& f, ConverterConfig& c);

// The quantiser of a converter whose range has the top `high` (full_scale, or the row's largest magnitude times
// headroom). A range of zero width (a row of zeros) gives an ideal quantiser: there is nothing to resolve.
Quantiser resolve(const ConverterConfig& config, double high);

// One conversion without dither: rounds to the nearest code (a tie goes up) and clips to the range.
// The readable reference; kernels write the same formula for a row.
float convert(const Quantiser& quantiser, float value);

// Variance that the conversion adds to an unsaturated input, in value units squared: step^2 / 12 with subtractive
// dither or none, step^2 / 4 with triangular dither (Wannamaker, Lipshitz, Vanderkooy, Wright 2000).
double conversion_variance(const Quantiser& quantiser);

}  // namespace zbphw
