#include "device_models/cells/curves.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace zbphw {

double polynomial(const std::vector<double>& coefficients, double x) {
  double value = 0;
  for (auto c = coefficients.rbegin(); c != coefficients.rend(); ++c) value = value * x + *c;
  return value;
}

void describe_polynomial(Fields& f, const char* key, std::vector<double>& coefficients, const char* help) {
  f.required().numbers(key, coefficients, any_number(), help);
  f.require(!coefficients.empty(), key, "got []; allowed: at least one coefficient");
}

double ClampedLog::at(double x) const {
  // The smallest positive number instead of 0: its logarithm is finite, so a slope of 0 gives no NaN.
  const double positive = std::max(x, std::numeric_limits<double>::min());
  return std::clamp(slope * std::log(positive) + offset, low, high);
}

double LogThenPolynomial::at(double x) const { return x < threshold ? below.at(x) : polynomial(above, x); }

void describe(Fields& f, ClampedLog& c) {
  f.required().number("slope", c.slope, any_number(), "factor of the natural logarithm");
  f.required().number("offset", c.offset, any_number(), "value at 1");
  f.required().number("low", c.low, any_number(), "smallest value");
  f.required().number("high", c.high, any_number(), "largest value");
  f.require(c.low <= c.high, "low", "is above high");
}

void describe(Fields& f, LogThenPolynomial& c) {
  f.required().number("threshold", c.threshold, at_least(0), "where the polynomial begins, of g_max");
  f.required().object("below", c.below, "clamped logarithm below the threshold");
  describe_polynomial(f, "above", c.above, "coefficients from the threshold on, constant first");
}

}  // namespace zbphw
