#include "device_models/converters/converter.hpp"

#include <algorithm>
#include <cmath>

namespace zbphw {

std::vector<std::pair<Grid, std::string>> Choices<Grid>::all() {
  return {{Grid::mid_tread, "mid_tread"}, {Grid::mid_rise, "mid_rise"}, {Grid::end_point, "end_point"}};
}

std::vector<std::pair<Dither, std::string>> Choices<Dither>::all() {
  return {{Dither::none, "none"}, {Dither::subtractive, "subtractive"}, {Dither::triangular, "triangular"}};
}

std::vector<std::pair<RangeSource, std::string>> Choices<RangeSource>::all() {
  return {
      {RangeSource::fixed, "fixed"}, {RangeSource::per_input, "per_input"}, {RangeSource::calibrated, "calibrated"}};
}

void describe(Fields& f, ConverterConfig& c) {
  f.bits("bits", c.bits, "resolution");
  f.choice("grid", c.grid, "where the codes lie");
  f.choice("dither", c.dither, "noise added before rounding");
  f.choice("range", c.range, "what sets the range");
  f.number("full_scale", c.full_scale, above(0), "top of a fixed range, in the port's units");
  f.number("low_fraction", c.low_fraction, between(-1, 0), "bottom of the range over its top; -1 bipolar, 0 unipolar");
  f.number("headroom", c.headroom, at_least(1), "a per_input or calibrated range is the largest magnitude times this");
  f.require(c.grid != Grid::mid_tread || c.low_fraction == -1, "grid",
            "mid_tread needs a symmetric range: low_fraction -1");
  f.require(c.grid != Grid::mid_tread || !c.bits || *c.bits >= 2, "bits",
            "one bit of mid_tread is a single level; use 2 or more");
}

Quantiser resolve(const ConverterConfig& config, double high) {
  Quantiser q;
  const double low = config.low_fraction * high;
  if (!config.bits || !(high > low)) return q;
  const double levels = std::ldexp(1.0, *config.bits) - (config.grid == Grid::mid_tread ? 1 : 0);
  const double intervals = config.grid == Grid::mid_rise ? levels : levels - 1;
  const double step = (high - low) / intervals;
  q.ideal = false;
  q.dither = config.dither;
  q.origin = static_cast<float>(config.grid == Grid::mid_rise ? low + step / 2 : low);
  q.step = static_cast<float>(step);
  q.inverse_step = static_cast<float>(1 / step);
  q.last_code = static_cast<float>(levels - 1);
  return q;
}

float convert(const Quantiser& quantiser, float value) {
  if (quantiser.ideal) return value;
  const float code = std::floor((value - quantiser.origin) * quantiser.inverse_step + 0.5F);
  return quantiser.origin + std::min(std::max(code, 0.0F), quantiser.last_code) * quantiser.step;
}

double conversion_variance(const Quantiser& quantiser) {
  if (quantiser.ideal) return 0;
  const double step = quantiser.step;
  return quantiser.dither == Dither::triangular ? step * step / 4 : step * step / 12;
}

}  // namespace zbphw
