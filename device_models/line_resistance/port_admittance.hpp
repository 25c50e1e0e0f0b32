// A crossbar as its drivers and readers see it: a resistive network with one port for each row and each column.
//
// Kirchhoff's laws are linear, so everything that happens inside is condensed into
//     row currents    = Y_rr v        (into the word lines)
//     output currents = T v           (out of the bit lines, which are read at 0 V)
// with v the voltages at the row ports, Y_rr [rows, rows] and the transfer matrix T [columns, rows], in siemens.
// A product with line resistance is then one dense product, like the ideal one. Rows whose driver is switched off carry
// no current, which gives their voltages: Y_ff v_f = -Y_fd v_d (f floating, d driven). That small dense system is
// factored once for each pattern of idle rows; consecutive vectors with the same pattern share it.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "device_models/line_resistance/crossbar_circuit.hpp"

namespace zbphw {

class PortAdmittance {
 public:
  // `admittance` [rows + columns, rows + columns], rows first, is symmetric. `row_is_open` [rows] marks rows of open
  // cells only: nothing sets their voltage when they float, and it is reported as 0.
  PortAdmittance(const Eigen::MatrixXd& admittance, std::vector<bool> row_is_open);

  Eigen::Index rows() const { return transfer_.cols(); }
  Eigen::Index columns() const { return transfer_.rows(); }

  // [columns, rows], siemens: the output currents for row voltages that are all held by their drivers.
  const RowMajorMatrix& transfer_matrix() const { return transfer_; }

  // Of applied voltages [rows, vectors]; all throw a data Error when the shape is wrong or a voltage not finite.
  // [rows, vectors], volts: as applied, but for disconnected idle rows the voltage that they float to.
  RowMajorMatrix row_voltages(const MatrixView& voltage_v, IdleRows idle_rows) const;
  // [columns, vectors], amperes.
  RowMajorMatrix output_currents(const MatrixView& voltage_v, IdleRows idle_rows) const;
  // [rows, vectors], amperes: what each driver delivers (0 to rounding for a disconnected row).
  RowMajorMatrix driver_currents(const MatrixView& voltage_v, IdleRows idle_rows) const;

 private:
  std::vector<int> floating_rows(const MatrixView& voltage_v, Eigen::Index vector) const;

  RowMajorMatrix transfer_;
  Eigen::MatrixXd row_admittance_;
  std::vector<bool> row_is_open_;
};

}  // namespace zbphw
