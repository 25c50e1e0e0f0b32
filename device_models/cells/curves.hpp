// The shapes that published fits of device data have, as described structs: their numbers are configuration.
#pragma once

#include <vector>

#include "base/fields.hpp"

namespace zbphw {

// sum_k c_k x^k, the constant first.
double polynomial(const std::vector<double>& coefficients, double x);

// A required, non-empty list of a polynomial's coefficients.
void describe_polynomial(Fields& f, const char* key, std::vector<double>& coefficients, const char* help);

// slope ln x + offset, held between low and high. At x = 0 it is the end to which the logarithm runs.
struct ClampedLog {
  double slope = 0;
  double offset = 0;
  double low = 0;
  double high = 0;

  double at(double x) const;
};

// Below the threshold a clamped logarithm, from there on a polynomial.
struct LogThenPolynomial {
  double threshold = 0;
  ClampedLog below;
  std::vector<double> above;

  double at(double x) const;
};

void describe(Fields& f, ClampedLog& c);
void describe(Fields& f, LogThenPolynomial& c);

}  // namespace zbphw
