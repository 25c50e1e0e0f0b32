#include "device_models/line_resistance/fast_solver.hpp"

#include <algorithm>
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

std::vector<bool> FastSolver::floating_rows(const Eigen::VectorXd& voltage_v) const {
  std::vector<bool> floating(static_cast<std::size_t>(voltage_v.size()), false);
  if (lines_.idle_rows == IdleRows::held_at_zero) return floating;
  for (Eigen::Index row = 0; row < voltage_v.size(); ++row) floating[row] = voltage_v[row] == 0;
  return floating;
}

// In place: currents into the nodes [rows, columns] become voltages of bit lines whose terminals are at 0 V.
void FastSolver::sweep_bit_lines(RowMajorMatrix& values) const {
  for (Eigen::Index row = 1; row < values.rows(); ++row) {
    values.row(row) += bit_lines_.carry.row(row - 1).cwiseProduct(values.row(row - 1));
  }
  values = values.cwiseProduct(bit_lines_.inverse_pivot);
  for (Eigen::Index row = values.rows() - 1; row > 0; --row) {
    values.row(row - 1) += bit_lines_.carry.row(row - 1).cwiseProduct(values.row(row));
  }
}

// In place: currents into the nodes become voltages of word lines whose drivers are at the voltage `drive_v` [rows].
void FastSolver::sweep_word_lines(const std::vector<bool>& floating, const Eigen::VectorXd& drive_v,
                                  RowMajorMatrix& values) const {
  for (Eigen::Index row = 0; row < values.rows(); ++row) {
    const LineFactors& factors = floating[row] ? floating_word_lines_ : driven_word_lines_;
    const double* pivot = factors.inverse_pivot.row(row).data();
    const double* carry = factors.carry.row(row).data();
    double* value = values.row(row).data();
    for (Eigen::Index column = values.cols() - 1; column > 0; --column) {
      value[column - 1] += carry[column] * value[column];
    }
    double ahead = drive_v[row];
    for (Eigen::Index column = 0; column < values.cols(); ++column) {
      ahead = value[column] * pivot[column] + carry[column] * ahead;
      value[column] = ahead;
    }
  }
}

// Sets the word-line voltages to what they are for the given bit-line voltages.
void FastSolver::settle_word_lines(const Eigen::VectorXd& drive_v, Nodes& nodes) const {
  nodes.word = conductance_.cwiseProduct(nodes.bit);
  if (lines_.word_line_segment_ohm > 0) {
    sweep_word_lines(nodes.floating, drive_v, nodes.word);
    return;
  }
  for (Eigen::Index row = 0; row < nodes.word.rows(); ++row) {
    const double cells = conductance_.row(row).sum();
    const double floating_v = cells > 0 ? nodes.word.row(row).sum() / cells : 0.0;
    nodes.word.row(row).setConstant(nodes.floating[row] ? floating_v : drive_v[row]);
  }
}

// What Kirchhoff's current law leaves over at each bit-line node, in amperes [rows, columns].
RowMajorMatrix FastSolver::bit_line_excess(const Nodes& nodes) const {
  const double segment = 1 / lines_.bit_line_segment_ohm;
  const Eigen::Index rows = nodes.bit.rows();
  RowMajorMatrix excess = conductance_.cwiseProduct(nodes.word - nodes.bit) - segment * nodes.bit;
  excess.topRows(rows - 1) += segment * nodes.bit.bottomRows(rows - 1);
  excess.bottomRows(rows - 1) += segment * (nodes.bit.topRows(rows - 1) - nodes.bit.bottomRows(rows - 1));
  return excess;
}

// The same at the word-line nodes, their magnitudes summed; settling leaves rounding only.
double FastSolver::word_line_excess(const Eigen::VectorXd& drive_v, const Nodes& nodes) const {
  const RowMajorMatrix out_of_line = conductance_.cwiseProduct(nodes.word - nodes.bit);
  double total = 0;
  for (Eigen::Index row = 0; row < nodes.word.rows(); ++row) {
    if (lines_.word_line_segment_ohm == 0) {
      if (nodes.floating[row]) total += std::abs(out_of_line.row(row).sum());
      continue;
    }
    const double segment = 1 / lines_.word_line_segment_ohm;
    double arriving = nodes.floating[row] ? 0 : segment * (drive_v[row] - nodes.word(row, 0));
    for (Eigen::Index column = 0; column < nodes.word.cols(); ++column) {
      const bool last = column + 1 == nodes.word.cols();
      const double leaving = last ? 0 : segment * (nodes.word(row, column) - nodes.word(row, column + 1));
      total += std::abs(arriving - leaving - out_of_line(row, column));
      arriving = leaving;
    }
  }
  return total;
}

// Improves the bit-line voltages until the excess, as the recurrence has it, sums to the target. Returns the
// iterations.
int FastSolver::iterate(const Eigen::VectorXd& drive_v, double target_a, int iteration_limit, Nodes& nodes) const {
  const Eigen::VectorXd no_drive = Eigen::VectorXd::Zero(drive_v.size());
  settle_word_lines(drive_v, nodes);
  RowMajorMatrix excess = bit_line_excess(nodes);
  RowMajorMatrix corrected = excess;
  sweep_bit_lines(corrected);
  Nodes step{nodes.floating, {}, corrected};
  double product = sum_of_products(excess, corrected);
  int iterations = 0;
  while (product > 0 && excess.cwiseAbs().sum() > target_a && iterations < iteration_limit) {
    ++iterations;
    settle_word_lines(no_drive, step);
    const RowMajorMatrix removed = -bit_line_excess(step);
    const double length = product / sum_of_products(step.bit, removed);
    nodes.bit += length * step.bit;
    excess -= length * removed;
    corrected = excess;
    sweep_bit_lines(corrected);
    const double previous = product;
    product = sum_of_products(excess, corrected);
    step.bit = corrected + (product / previous) * step.bit;
  }
  return iterations;
}

FastSolver::Solution FastSolver::solve_vector(const Eigen::VectorXd& drive_v, const FastSolverOptions& options) const {
  Solution solution;
  Nodes nodes{floating_rows(drive_v), {}, RowMajorMatrix::Zero(conductance_.rows(), conductance_.cols())};
  const bool has_bit_nodes = lines_.bit_line_segment_ohm > 0;
  settle_word_lines(drive_v, nodes);
  // The recurrence's excess drifts from the true one, and the current is known at the end only: so check, and go on
  // from the true excess with a stricter target where that was not enough.
  for (double strictness = 1;; strictness /= 4) {
    const RowMajorMatrix cell_current = conductance_.cwiseProduct(nodes.word - nodes.bit);
    const double total = cell_current.cwiseAbs().sum();
    const double left_over =
        word_line_excess(drive_v, nodes) + (has_bit_nodes ? bit_line_excess(nodes).cwiseAbs().sum() : 0);
    solution.residual = total > 0 ? left_over / total : 0;
    solution.output_current_a = cell_current.colwise().sum();
    if (solution.residual <= options.tolerance || !has_bit_nodes || solution.iterations >= options.iteration_limit)
      break;
    const int allowed = options.iteration_limit - solution.iterations;
    solution.iterations += std::max(1, iterate(drive_v, strictness * options.tolerance * total, allowed, nodes));
    settle_word_lines(drive_v, nodes);
  }
  return solution;
}

FastResult FastSolver::solve(const MatrixView& voltage_v, const FastSolverOptions& options) const {
  check_voltages(voltage_v, conductance_.rows());
  FastResult result;
  result.output_current_a.resize(conductance_.cols(), voltage_v.cols());
  for (Eigen::Index vector = 0; vector < voltage_v.cols(); ++vector) {
    const Solution solution = solve_vector(voltage_v.col(vector), options);
    if (!(solution.residual <= options.tolerance))
      throw not_converged(vector, solution.residual, solution.iterations, options);
    result.output_current_a.col(vector) = solution.output_current_a;
    result.residual.push_back(solution.residual);
    result.iterations.push_back(solution.iterations);
  }
  return result;
}

}  // namespace zbphw
