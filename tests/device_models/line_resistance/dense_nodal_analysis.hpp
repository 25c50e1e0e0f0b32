// An independent solution by textbook nodal analysis: every node has its row in one dense matrix, every resistor is
// stamped by hand, and the matrix is inverted by pivoted LU. Both segment resistances must be above zero.
#pragma once

#include <Eigen/Dense>
#include <vector>

struct DenseNodalAnalysis {
  Eigen::MatrixXd word_v;  // [rows, columns]
  Eigen::MatrixXd bit_v;
  Eigen::VectorXd output_a;  // [columns]
};

// `driven[row]` is whether the row's driver is connected.
inline DenseNodalAnalysis dense_nodal_analysis(const Eigen::MatrixXd& conductance, double word_ohm, double bit_ohm,
                                               const Eigen::VectorXd& voltage, const std::vector<bool>& driven) {
  const int rows = static_cast<int>(conductance.rows());
  const int columns = static_cast<int>(conductance.cols());
  Eigen::MatrixXd matrix = Eigen::MatrixXd::Zero(2 * rows * columns, 2 * rows * columns);
  Eigen::VectorXd current = Eigen::VectorXd::Zero(2 * rows * columns);
  const auto word = [&](int row, int column) { return row * columns + column; };
  const auto bit = [&](int row, int column) { return rows * columns + row * columns + column; };
  const auto stamp = [&](int a, int b, double siemens) {
    matrix(a, a) += siemens;
    matrix(b, b) += siemens;
    matrix(a, b) -= siemens;
    matrix(b, a) -= siemens;
  };
  for (int row = 0; row < rows; ++row) {
    if (driven[row]) {
      matrix(word(row, 0), word(row, 0)) += 1 / word_ohm;
      current(word(row, 0)) += voltage[row] / word_ohm;
    }
    for (int column = 0; column < columns; ++column) {
      stamp(word(row, column), bit(row, column), conductance(row, column));
      if (column + 1 < columns) stamp(word(row, column), word(row, column + 1), 1 / word_ohm);
      if (row + 1 < rows) stamp(bit(row, column), bit(row + 1, column), 1 / bit_ohm);
    }
  }
  for (int column = 0; column < columns; ++column) matrix(bit(rows - 1, column), bit(rows - 1, column)) += 1 / bit_ohm;

  const Eigen::VectorXd solution = matrix.fullPivLu().solve(current);
  DenseNodalAnalysis result{Eigen::MatrixXd(rows, columns), Eigen::MatrixXd(rows, columns), Eigen::VectorXd(columns)};
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      result.word_v(row, column) = solution[word(row, column)];
      result.bit_v(row, column) = solution[bit(row, column)];
    }
  }
  result.output_a = result.bit_v.row(rows - 1).transpose() / bit_ohm;
  return result;
}
