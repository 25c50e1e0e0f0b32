// An approximate solve of a crossbar with resistive lines, for a state that answers only a few products: it factors
// nothing larger than a line, and its memory is a few numbers a cell.
//
// Each word line alone, and each bit line alone, is a tridiagonal system. The word lines are eliminated exactly, which
// leaves S u = b for the bit-line nodes u; conjugate gradients (Hestenes and Stiefel 1952) solve it, preconditioned by
// the bit lines. So an iteration is one sweep over all word lines and one over all bit lines.
//
// The residual that is returned bounds the error of the result. A current that Kirchhoff's law leaves over at a node
// spreads to the ports in fractions that add up to at most one, so
//     sum over columns |I - I_exact|  <=  sum over nodes |current left over|  =  residual * sum over cells |current|.
#pragma once

#include <Eigen/Core>
#include <vector>

#include "device_models/line_resistance/crossbar_circuit.hpp"

namespace zbphw {

struct FastSolverOptions {
  double tolerance = 1e-9;    // largest residual accepted; rounding leaves about 1e-12 at 256 x 256
  int iteration_limit = 500;  // for each vector
};

struct FastResult {
  RowMajorMatrix output_current_a;  // [columns, vectors]
  std::vector<double> residual;     // [vectors], recomputed from the node voltages at the end
  std::vector<int> iterations;      // [vectors]
};

// The pivots of all lines of one direction, [rows, columns]. A sweep computes, from a line's open end k = 0 to its
// terminal and back, y(k) = i(k) + carry(k - 1) y(k - 1), then v(k) = y(k) inverse_pivot(k) + carry(k) v(k + 1).
struct LineFactors {
  RowMajorMatrix inverse_pivot;
  RowMajorMatrix carry;
};

class FastSolver {
 public:
  // Throws what check_crossbar throws.
  FastSolver(const MatrixView& conductance_siemens, const LineResistance& lines);

  // For applied voltages [rows, vectors]. Throws what check_voltages throws, and a numerical Error that names the
  // vector when the tolerance is not reached within the iteration limit.
  FastResult solve(const MatrixView& voltage_v, const FastSolverOptions& options) const;

 private:
  // The voltages inside the crossbar for one vector.
  struct Nodes {
    std::vector<bool> floating;  // [rows]
    RowMajorMatrix word;         // [rows, columns]
    RowMajorMatrix bit;
  };

  struct Solution {
    Eigen::VectorXd output_current_a;  // [columns]
    double residual = 0;
    int iterations = 0;
  };

  Solution solve_vector(const Eigen::VectorXd& drive_v, const FastSolverOptions& options) const;
  int iterate(const Eigen::VectorXd& drive_v, double target_a, int iteration_limit, Nodes& nodes) const;
  std::vector<bool> floating_rows(const Eigen::VectorXd& drive_v) const;
  void settle_word_lines(const Eigen::VectorXd& drive_v, Nodes& nodes) const;
  void sweep_word_lines(const std::vector<bool>& floating, const Eigen::VectorXd& drive_v,
                        RowMajorMatrix& values) const;
  void sweep_bit_lines(RowMajorMatrix& values) const;
  RowMajorMatrix bit_line_excess(const Nodes& nodes) const;
  double word_line_excess(const Eigen::VectorXd& drive_v, const Nodes& nodes) const;

  RowMajorMatrix conductance_;
  LineResistance lines_;
  LineFactors driven_word_lines_;
  LineFactors floating_word_lines_;
  LineFactors bit_lines_;
};

}  // namespace zbphw
