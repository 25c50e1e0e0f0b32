// The exact voltages and currents of a crossbar with resistive lines (crossbar_circuit.hpp draws it).
//
// Kirchhoff's current law at every node, A v = i, is solved by multifrontal Cholesky elimination (Duff and Reid 1983)
// along a nested dissection. The ports are kept, so the elimination ends in their admittance matrix: the transfer
// matrix costs no solve of its own, and idle rows may be switched off without factoring again. What is condensed at
// each step is again a network of conductors, so its diagonal is minus the sum of the rest of its row; taking it from
// there (Grassmann, Taksar and Heyman 1985) leaves no subtraction, and a segment may be as small as one likes.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "device_models/line_resistance/crossbar_circuit.hpp"
#include "device_models/line_resistance/nested_dissection.hpp"
#include "device_models/line_resistance/port_admittance.hpp"

namespace zbphw {

// Everything inside the crossbar for one applied vector. Matrices are [rows, columns].
struct NodeState {
  RowMajorMatrix word_node_v;
  RowMajorMatrix bit_node_v;
  RowMajorMatrix device_current_a;     // from the word line to the bit line
  RowMajorMatrix word_line_current_a;  // in the segment that ends at the cell, away from the driver
  RowMajorMatrix bit_line_current_a;   // in the segment that starts at the cell, towards the reader
  Eigen::VectorXd row_voltage_v;       // [rows], at the drivers; a disconnected row's is what it floats to
  Eigen::VectorXd output_current_a;    // [columns]
};

// One elimination kept for node voltages: node values follow from those of the boundary.
struct EliminationPanel {
  int first = 0;              // the eliminated nodes are [first, first + factor.cols())
  std::vector<int> boundary;  // nodes, ascending
  Eigen::MatrixXd factor;     // [eliminated + boundary, eliminated]: L over the boundary's coupling
};

// Factored once for each programmed state; immutable afterwards, so it may be shared between threads.
class NodalFactorisation {
 public:
  // Throws what check_crossbar throws.
  NodalFactorisation(const MatrixView& conductance_siemens, const LineResistance& lines);

  // Small (about rows^2 + rows columns numbers); copy it and drop the rest when node voltages are not needed.
  const PortAdmittance& ports() const { return ports_; }

  // Output currents [columns, vectors] for applied voltages [rows, vectors], idle rows as configured.
  RowMajorMatrix output_currents(const MatrixView& voltage_v) const;

  // All node voltages and branch currents for applied voltages [rows, 1]; zero vectors or several are a data Error.
  NodeState node_state(const MatrixView& voltage_v) const;

 private:
  PortAdmittance factor();
  Eigen::VectorXd node_voltages(const Eigen::VectorXd& row_voltage_v) const;

  RowMajorMatrix conductance_;
  LineResistance lines_;
  NodeNumbering numbering_;
  std::vector<EliminationPanel> panels_;
  PortAdmittance ports_;
};

}  // namespace zbphw
