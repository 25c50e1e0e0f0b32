#include "device_models/line_resistance/fast_solver.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace zbphw {
namespace {

const MatrixView& checked(const MatrixView& conductance, const LineResistance& lines) {
  check_crossbar(conductance, lines);
  return conductance;
}

// One node of a line, from the open end: `beyond` is the conductance to ground of what lies beyond it, itself included.
// Adding conductances in series and parallel, never subtracting, keeps the pivots exact for lines of any resistance.
struct LineNode {
  double beyond = 0;
  double inverse_pivot = 0;
  double carry = 0;
};

LineNode next_line_node(const LineNode& previous, double cell, double segment_beyond, double segment_ahead) {
  LineNode node;
  const double in_series = segment_beyond + previous.beyond;
  node.beyond = cell + (in_series > 0 ? segment_beyond * previous.beyond / in_series : 0.0);
  const double pivot = node.beyond + segment_ahead;
  // A floating line of open cells has no voltage of its own; zeros in its last pivot report it as 0 V.
  node.inverse_pivot = pivot > 0 ? 1 / pivot : 0.0;
  node.carry = segment_ahead * node.inverse_pivot;
  return node;
}

LineFactors factor_word_lines(const RowMajorMatrix& conductance, double segment, bool driven) {
  LineFactors factors{RowMajorMatrix(conductance.rows(), conductance.cols()),
                      RowMajorMatrix(conductance.rows(), conductance.cols())};
  const Eigen::Index open_end = conductance.cols() - 1;
  for (Eigen::Index row = 0; row < conductance.rows(); ++row) {
    LineNode node;
    for (Eigen::Index column = open_end; column >= 0; --column) {
      const double ahead = column > 0 || driven ? segment : 0;
      node = next_line_node(node, conductance(row, column), column == open_end ? 0 : segment, ahead);
      factors.inverse_pivot(row, column) = node.inverse_pivot;
      factors.carry(row, column) = node.carry;
    }
  }
  return factors;
}

LineFactors factor_bit_lines(const RowMajorMatrix& conductance, double segment) {
  LineFactors factors{RowMajorMatrix(conductance.rows(), conductance.cols()),
                      RowMajorMatrix(conductance.rows(), conductance.cols())};
  for (Eigen::Index column = 0; column < conductance.cols(); ++column) {
    LineNode node;
    for (Eigen::Index row = 0; row < conductance.rows(); ++row) {
      node = next_line_node(node, conductance(row, column), row == 0 ? 0 : segment, segment);
      factors.inverse_pivot(row, column) = node.inverse_pivot;
      factors.carry(row, column) = node.carry;
    }
  }
  return factors;
}

// In place: currents into the nodes [rows, columns] become voltages of bit lines whose terminals are at 0 V.
void sweep_bit_lines(const LineFactors& factors, RowMajorMatrix& values) {
  for (Eigen::Index row = 1; row < values.rows(); ++row) {
    values.row(row) += factors.carry.row(row - 1).cwiseProduct(values.row(row - 1));
  }
  const Eigen::Index last = values.rows() - 1;
  values.row(last) = values.row(last).cwiseProduct(factors.inverse_pivot.row(last));
  for (Eigen::Index row = last; row > 0; --row) {
    values.row(row - 1) = values.row(row - 1).cwiseProduct(factors.inverse_pivot.row(row - 1)) +
                          factors.carry.row(row - 1).cwiseProduct(values.row(row));
  }
}

// One word line on its way through a sweep.
struct WordLine {
  const double* inverse_pivot;
  const double* carry;
  double* value;
  double ahead;
};

// In place: currents into the nodes become voltages. Lines in step with each other, as one alone waits for itself.
template <std::size_t lanes>
void sweep_word_lines(std::array<WordLine, lanes> lines, Eigen::Index columns) {
  std::array<double, lanes> running{};
  for (Eigen::Index column = columns - 1; column >= 0; --column) {
    for (std::size_t k = 0; k < lanes; ++k) {
      running[k] += lines[k].value[column];
      lines[k].value[column] = running[k];
      running[k] *= lines[k].carry[column];
    }
  }
  for (Eigen::Index column = 0; column < columns; ++column) {
    for (std::size_t k = 0; k < lanes; ++k) {
      const WordLine& line = lines[k];
      lines[k].ahead = line.value[column] * line.inverse_pivot[column] + line.carry[column] * line.ahead;
      line.value[column] = line.ahead;
    }
  }
}

double sum_of_products(const RowMajorMatrix& a, const RowMajorMatrix& b) { return a.cwiseProduct(b).sum(); }

Error not_converged(Eigen::Index vector, double residual, int iterations, const FastSolverOptions& options) {
  std::ostringstream text;
  text << "the residual is " << residual << " after " << iterations << " iterations; wanted " << options.tolerance
       << " (raise the tolerance or the iteration limit, or solve exactly)";
  return numerical_error("crossbar, applied vector " + std::to_string(vector), text.str());
}

}  // namespace

FastSolver::FastSolver(const MatrixView& conductance_siemens, const LineResistance& lines)
    : conductance_(checked(conductance_siemens, lines)), lines_(lines) {
  if (lines_.word_line_segment_ohm > 0) {
    const double segment = 1 / lines_.word_line_segment_ohm;
    driven_word_lines_ = factor_word_lines(conductance_, segment, true);
    if (lines_.idle_rows == IdleRows::disconnected) {
      floating_word_lines_ = factor_word_lines(conductance_, segment, false);
    }
  }
  if (lines_.bit_line_segment_ohm > 0) bit_lines_ = factor_bit_lines(conductance_, 1 / lines_.bit_line_segment_ohm);
}

// Voltages at the nodes [rows, columns], of what the drivers [rows] apply.
struct FastSolver::Nodes {
  Eigen::VectorXd drive;
  std::vector<bool> floating;
  RowMajorMatrix word;
  RowMajorMatrix bit;
};

// Reused from vector to vector: fresh memory of this size costs as much as the arithmetic.
struct FastSolver::Buffers {
  Nodes nodes;
  Nodes step;                // conjugate gradients' direction: a change of `nodes` without drive
  RowMajorMatrix excess;     // current left over at the bit-line nodes
  RowMajorMatrix removed;    // what one step of unit length removes from it
  RowMajorMatrix corrected;  // the excess as voltages of the bit lines alone
};

const LineFactors& FastSolver::word_line_factors(bool floating) const {
  return floating ? floating_word_lines_ : driven_word_lines_;
}

// Sets the word-line voltages to what they are for the given bit-line voltages.
void FastSolver::settle_word_lines(Nodes& nodes) const {
  nodes.word = conductance_.cwiseProduct(nodes.bit);
  const Eigen::Index rows = nodes.word.rows();
  if (lines_.word_line_segment_ohm == 0) {
    for (Eigen::Index row = 0; row < rows; ++row) {
      const double cells = conductance_.row(row).sum();
      const double mean = cells > 0 ? nodes.word.row(row).sum() / cells : 0.0;
      nodes.word.row(row).setConstant(nodes.floating[row] ? mean : nodes.drive[row]);
    }
    return;
  }
  const auto line = [&](Eigen::Index row) {
    const LineFactors& factors = word_line_factors(nodes.floating[row]);
    return WordLine{factors.inverse_pivot.row(row).data(), factors.carry.row(row).data(), nodes.word.row(row).data(),
                    nodes.drive[row]};
  };
  Eigen::Index row = 0;
  for (; row + 4 <= rows; row += 4) {
    sweep_word_lines<4>({line(row), line(row + 1), line(row + 2), line(row + 3)}, nodes.word.cols());
  }
  for (; row < rows; ++row) sweep_word_lines<1>({line(row)}, nodes.word.cols());
}

// What Kirchhoff's current law leaves over at each bit-line node, in amperes [rows, columns].
void FastSolver::bit_line_excess(const Nodes& nodes, RowMajorMatrix& excess) const {
  const double segment = 1 / lines_.bit_line_segment_ohm;
  const Eigen::Index last = nodes.bit.rows() - 1;
  excess.resizeLike(nodes.bit);
  for (Eigen::Index row = 0; row <= last; ++row) {
    const auto here = nodes.bit.row(row);
    excess.row(row) = conductance_.row(row).cwiseProduct(nodes.word.row(row) - here);
    if (row > 0) excess.row(row) += segment * (nodes.bit.row(row - 1) - here);
    if (row < last) excess.row(row) += segment * (nodes.bit.row(row + 1) - here);
    if (row == last) excess.row(row) -= segment * here;
  }
}

// The same at the word-line nodes, their magnitudes summed: what rounding leaves after settling.
double FastSolver::word_line_excess(const Nodes& nodes) const {
  double total = 0;
  for (Eigen::Index row = 0; row < nodes.word.rows(); ++row) {
    const auto cell_current = [&](Eigen::Index column) {
      return conductance_(row, column) * (nodes.word(row, column) - nodes.bit(row, column));
    };
    if (lines_.word_line_segment_ohm == 0) {
      double left = 0;
      for (Eigen::Index column = 0; column < nodes.word.cols(); ++column) left += cell_current(column);
      if (nodes.floating[row]) total += std::abs(left);
      continue;
    }
    const double segment = 1 / lines_.word_line_segment_ohm;
    double arriving = nodes.floating[row] ? 0 : segment * (nodes.drive[row] - nodes.word(row, 0));
    for (Eigen::Index column = 0; column < nodes.word.cols(); ++column) {
      const bool last = column + 1 == nodes.word.cols();
      const double leaving = last ? 0 : segment * (nodes.word(row, column) - nodes.word(row, column + 1));
      total += std::abs(arriving - leaving - cell_current(column));
      arriving = leaving;
    }
  }
  return total;
}

// Improves the bit-line voltages until the excess, as the recurrence has it, sums to the target. Returns the
// iterations.
int FastSolver::iterate(double target_a, int iteration_limit, Buffers& at) const {
  bit_line_excess(at.nodes, at.excess);
  at.corrected = at.excess;
  sweep_bit_lines(bit_lines_, at.corrected);
  at.step.bit = at.corrected;
  double product = sum_of_products(at.excess, at.corrected);
  int iterations = 0;
  while (product > 0 && iterations < iteration_limit && at.excess.cwiseAbs().sum() > target_a) {
    ++iterations;
    settle_word_lines(at.step);
    bit_line_excess(at.step, at.removed);
    const double length = -product / sum_of_products(at.step.bit, at.removed);
    at.nodes.bit += length * at.step.bit;
    at.excess += length * at.removed;
    at.corrected = at.excess;
    sweep_bit_lines(bit_lines_, at.corrected);
    const double previous = product;
    product = sum_of_products(at.excess, at.corrected);
    at.step.bit = at.corrected + (product / previous) * at.step.bit;
  }
  settle_word_lines(at.nodes);
  return iterations;
}

// Solves for at.nodes.drive; returns the residual of the node voltages, however many iterations were left.
double FastSolver::solve_vector(const FastSolverOptions& options, Buffers& at, int& iterations) const {
  const bool has_bit_nodes = lines_.bit_line_segment_ohm > 0;
  settle_word_lines(at.nodes);
  // The recurrence's excess drifts from the true one, and the current is known at the end only: so check, and go on
  // from the true excess with a stricter target where that was not enough.
  for (double strictness = 1;; strictness /= 4) {
    const double cells = conductance_.cwiseProduct(at.nodes.word - at.nodes.bit).cwiseAbs().sum();
    double excess = word_line_excess(at.nodes);
    if (has_bit_nodes) {
      bit_line_excess(at.nodes, at.excess);
      excess += at.excess.cwiseAbs().sum();
    }
    const double residual = cells > 0 ? excess / cells : 0;
    if (residual <= options.tolerance || !has_bit_nodes || iterations >= options.iteration_limit) return residual;
    iterations +=
        std::max(1, iterate(strictness * options.tolerance * cells, options.iteration_limit - iterations, at));
  }
}

FastResult FastSolver::solve(const MatrixView& voltage_v, const FastSolverOptions& options) const {
  check_voltages(voltage_v, conductance_.rows());
  const Eigen::Index rows = conductance_.rows();
  FastResult result;
  result.output_current_a.resize(conductance_.cols(), voltage_v.cols());
  Buffers at;
  at.step.drive = Eigen::VectorXd::Zero(rows);
  for (Eigen::Index vector = 0; vector < voltage_v.cols(); ++vector) {
    at.nodes.drive = voltage_v.col(vector);
    at.nodes.bit.setZero(rows, conductance_.cols());
    at.nodes.floating.assign(static_cast<std::size_t>(rows), false);
    if (lines_.idle_rows == IdleRows::disconnected) {
      for (Eigen::Index row = 0; row < rows; ++row) at.nodes.floating[row] = at.nodes.drive[row] == 0;
    }
    at.step.floating = at.nodes.floating;
    int iterations = 0;
    const double residual = solve_vector(options, at, iterations);
    if (!(residual <= options.tolerance)) throw not_converged(vector, residual, iterations, options);
    if (lines_.bit_line_segment_ohm > 0) {
      // Out of the last segment, not summed over the cells: the bound on the error is that of the current at the ports.
      result.output_current_a.col(vector) = at.nodes.bit.row(rows - 1).transpose() / lines_.bit_line_segment_ohm;
    } else {
      result.output_current_a.col(vector) = conductance_.cwiseProduct(at.nodes.word).colwise().sum().transpose();
    }
    result.residual.push_back(residual);
    result.iterations.push_back(iterations);
  }
  return result;
}

}  // namespace zbphw
