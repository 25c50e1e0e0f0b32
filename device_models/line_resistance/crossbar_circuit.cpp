#include "device_models/line_resistance/crossbar_circuit.hpp"

#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace zbphw {
namespace {

std::string number_text(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

std::string shape_text(const MatrixView& matrix) {
  return "[" + std::to_string(matrix.rows()) + ", " + std::to_string(matrix.cols()) + "]";
}

void check_segment(const char* key, double ohm) {
  // The reciprocal too: a resistance so small that its conductance overflows is meant to be 0.
  if (ohm == 0 || (ohm > 0 && std::isfinite(ohm) && std::isfinite(1 / ohm))) return;
  throw config_error(key, "got " + number_text(ohm) +
                              "; allowed: a finite resistance, at least 0 (0 makes the line one node; "
                              "leave a row or column out instead of opening its line)");
}

}  // namespace

void describe(Fields& f, LineResistance& c) {
  f.number("word_line_segment_ohm", c.word_line_segment_ohm, at_least(0),
           "resistance of a word line from one cell to the next, and from the driver to the first cell");
  f.number("bit_line_segment_ohm", c.bit_line_segment_ohm, at_least(0),
           "resistance of a bit line from one cell to the next, and from the last cell to the reader");
  f.choice("idle_rows", c.idle_rows, "what the driver of a row does whose input is zero");
}

void check_crossbar(const MatrixView& conductance_siemens, const LineResistance& lines) {
  if (conductance_siemens.rows() == 0 || conductance_siemens.cols() == 0) {
    throw data_error("crossbar", "got conductances " + shape_text(conductance_siemens) +
                                     "; allowed: at least one row and one column");
  }
  for (Eigen::Index row = 0; row < conductance_siemens.rows(); ++row) {
    for (Eigen::Index column = 0; column < conductance_siemens.cols(); ++column) {
      const double value = conductance_siemens(row, column);
      if (std::isfinite(value) && value >= 0) continue;
      throw data_error("crossbar cell [" + std::to_string(row) + ", " + std::to_string(column) + "]",
                       "got a conductance of " + number_text(value) + " S; allowed: finite, at least 0");
    }
  }
  check_segment("word_line_segment_ohm", lines.word_line_segment_ohm);
  check_segment("bit_line_segment_ohm", lines.bit_line_segment_ohm);
}

void check_voltages(const MatrixView& voltage_v, Eigen::Index rows) {
  if (voltage_v.rows() != rows) {
    throw data_error("applied voltages", "got " + shape_text(voltage_v) + "; allowed: [" + std::to_string(rows) +
                                             ", vectors], one voltage for each row of the crossbar");
  }
  for (Eigen::Index row = 0; row < voltage_v.rows(); ++row) {
    for (Eigen::Index vector = 0; vector < voltage_v.cols(); ++vector) {
      if (std::isfinite(voltage_v(row, vector))) continue;
      throw data_error("applied voltage [" + std::to_string(row) + ", " + std::to_string(vector) + "]",
                       "got " + number_text(voltage_v(row, vector)) + " V; allowed: a finite voltage");
    }
  }
}

}  // namespace zbphw
