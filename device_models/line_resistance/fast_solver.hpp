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

// The pivots of all lines of one direction, [rows, columns]. A sweep goes from a line's open end k = 0 to its terminal,
// y(k) = i(k) + carry(k - 1) y(k - 1), and back, v(k) = y(k) inverse_pivot(k) + carry(k) v(k + 1).
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
  struct Nodes;
  struct Buffers;

  double solve_vector(const FastSolverOptions& options, Buffers& at, int& iterations) const;
  int iterate(double target_a, int iteration_limit, Buffers& at) const;
  void settle_word_lines(Nodes& nodes) const;
  void bit_line_excess(const Nodes& nodes, RowMajorMatrix& excess) const;
  double word_line_excess(const Nodes& nodes) const;
  const LineFactors& word_line_factors(bool floating) const;

  RowMajorMatrix conductance_;
  LineResistance lines_;
  LineFactors driven_word_lines_;
  LineFactors floating_word_lines_;
  LineFactors bit_lines_;
};

}  // namespace zbphw
