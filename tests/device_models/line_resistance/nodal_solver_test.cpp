#include "device_models/line_resistance/nodal_solver.hpp"

#include <catch2/catch.hpp>
#include <cmath>

#include "dense_nodal_analysis.hpp"
#include "random_crossbar.hpp"

using zbphw::IdleRows;
using zbphw::LineResistance;
using zbphw::NodalFactorisation;
using zbphw::NodeState;
using zbphw::RowMajorMatrix;

namespace {

double largest(const Eigen::MatrixXd& matrix) { return matrix.cwiseAbs().maxCoeff(); }

LineResistance ohms(double word, double bit) { return {word, bit, IdleRows::held_at_zero}; }

}  // namespace

TEST_CASE("one cell is three resistors in series") {
  const RowMajorMatrix conductance = RowMajorMatrix::Constant(1, 1, 1 / 40e3);
  const NodeState state =
      NodalFactorisation(conductance, ohms(300, 700)).node_state(RowMajorMatrix::Constant(1, 1, 0.2));
  const double current = 0.2 / (300 + 40e3 + 700);
  CHECK(state.output_current_a[0] == Approx(current).epsilon(1e-14));
  CHECK(state.word_node_v(0, 0) == Approx(0.2 - 300 * current).epsilon(1e-14));
  CHECK(state.bit_node_v(0, 0) == Approx(700 * current).epsilon(1e-14));
}

// A word line of N equal cells into grounded bit lines: v(k - 1) - (2 + R G) v(k) + v(k + 1) = 0 with v(0) = V and no
// current beyond N, so v(k) = V cosh((N + 1/2 - k) t) / cosh((N + 1/2) t), where 2 sinh(t / 2) = sqrt(R G).
TEST_CASE("a row of equal cells follows the closed form of a resistive ladder") {
  const int columns = GENERATE(1, 2, 17, 300);
  const double cell = 25e-6;
  const double segment = 30;
  const double step = 2 * std::asinh(std::sqrt(segment * cell) / 2);
  const NodalFactorisation factorisation(RowMajorMatrix::Constant(1, columns, cell), ohms(segment, 0));
  const RowMajorMatrix output = factorisation.output_currents(RowMajorMatrix::Constant(1, 1, 0.2));
  for (int k = 1; k <= columns; ++k) {
    const double voltage = 0.2 * std::cosh((columns + 0.5 - k) * step) / std::cosh((columns + 0.5) * step);
    CHECK(output(k - 1, 0) == Approx(cell * voltage).epsilon(1e-12));
  }
}

// A bit line of N equal cells, all driven at V: the same ladder for V - u, seen from its grounded end.
TEST_CASE("a column of equal cells follows the closed form of a resistive ladder") {
  const int rows = GENERATE(1, 2, 17, 300);
  const double cell = 25e-6;
  const double segment = 30;
  const double step = 2 * std::asinh(std::sqrt(segment * cell) / 2);
  const NodalFactorisation factorisation(RowMajorMatrix::Constant(rows, 1, cell), ohms(0, segment));
  const NodeState state = factorisation.node_state(RowMajorMatrix::Constant(rows, 1, 0.2));
  double total = 0;
  for (int k = 1; k <= rows; ++k) {  // counted from the reader
    const double across = 0.2 * std::cosh((rows + 0.5 - k) * step) / std::cosh((rows + 0.5) * step);
    CHECK(std::abs(state.bit_node_v(rows - k, 0) - (0.2 - across)) < 1e-14);
    total += cell * across;
  }
  CHECK(state.output_current_a[0] == Approx(total).epsilon(1e-12));
}

TEST_CASE("without line resistance the transfer matrix is the transposed conductances, exactly") {
  const RowMajorMatrix conductance = random_uniform(19, 23, 0, 25e-6, 1);
  const NodalFactorisation factorisation(conductance, ohms(0, 0));
  CHECK(factorisation.ports().transfer_matrix() == conductance.transpose());
}

TEST_CASE("a vanishing resistance approaches zero resistance without losing digits") {
  const RowMajorMatrix conductance = random_uniform(40, 30, 0, 25e-6, 2);
  const double word = GENERATE(0.0, 1e-9);
  const double bit = GENERATE(0.0, 1e-9);
  const NodalFactorisation factorisation(conductance, ohms(word, bit));
  // The loss is below rows * columns * 1e-9 ohm * 25 uS = 3e-11.
  const RowMajorMatrix ratio = factorisation.ports().transfer_matrix().cwiseQuotient(conductance.transpose());
  CHECK(largest(ratio.array() - 1) < 1e-10);
}

TEST_CASE("the solution equals a dense nodal analysis") {
  const int rows = GENERATE(1, 6, 13);
  const int columns = GENERATE(1, 9, 14);
  const double word = GENERATE(0.5, 200.0);
  const double bit = GENERATE(3.0, 5000.0);
  RowMajorMatrix conductance = random_uniform(rows, columns, 0, 100e-6, 3);
  if (rows > 1 && columns > 1) conductance.row(1).setZero();  // a row of open cells
  const RowMajorMatrix voltage = random_uniform(rows, 1, -0.2, 0.2, 4);
  const NodalFactorisation factorisation(conductance, ohms(word, bit));
  const NodeState state = factorisation.node_state(voltage);
  const DenseNodalAnalysis reference =
      dense_nodal_analysis(conductance, word, bit, voltage.col(0), std::vector<bool>(rows, true));
  CHECK(largest(state.word_node_v - reference.word_v) < 1e-13);
  CHECK(largest(state.bit_node_v - reference.bit_v) < 1e-13);
  CHECK(largest(state.output_current_a - reference.output_a) < 1e-11 * largest(reference.output_a));
}

TEST_CASE("every segment obeys Ohm's law and every reader takes its bit line's current") {
  const int rows = 70;
  const int columns = 90;
  const RowMajorMatrix conductance = random_binary(rows, columns, 25e-6, 0.7, 5);
  const RowMajorMatrix voltage = random_uniform(rows, 1, -0.2, 0.2, 6);
  const NodeState state = NodalFactorisation(conductance, ohms(2, 5)).node_state(voltage);
  RowMajorMatrix before(rows, columns);  // the node at which each word-line segment starts
  before << voltage, state.word_node_v.leftCols(columns - 1);
  CHECK(largest(before - state.word_node_v - 2 * state.word_line_current_a) < 1e-14);
  RowMajorMatrix after(rows, columns);
  after << state.bit_node_v.bottomRows(rows - 1), RowMajorMatrix::Zero(1, columns);
  CHECK(largest(state.bit_node_v - after - 5 * state.bit_line_current_a) < 1e-14);
  CHECK(largest(state.bit_line_current_a.row(rows - 1).transpose() - state.output_current_a) < 1e-16);
}

TEST_CASE("the drivers deliver the power that cells and segments dissipate") {
  const double word = GENERATE(0.0, 20.0);
  const double bit = GENERATE(0.0, 50.0);
  const IdleRows idle = GENERATE(IdleRows::held_at_zero, IdleRows::disconnected);
  const RowMajorMatrix conductance = random_uniform(24, 17, 1e-6, 100e-6, 7);
  RowMajorMatrix voltage = random_uniform(24, 1, -0.2, 0.2, 8);
  voltage.topRows(9).setZero();
  const NodalFactorisation factorisation(conductance, {word, bit, idle});
  const NodeState state = factorisation.node_state(voltage);
  const double dissipated = state.device_current_a.cwiseAbs2().cwiseQuotient(conductance).sum() +
                            word * state.word_line_current_a.squaredNorm() +
                            bit * state.bit_line_current_a.squaredNorm();
  const RowMajorMatrix delivered = factorisation.ports().driver_currents(voltage, idle);
  CHECK(delivered.cwiseProduct(voltage).sum() == Approx(dissipated).epsilon(1e-12));
  CHECK(largest(delivered - state.word_line_current_a.col(0)) < 1e-15);
}

// Exchanging the places of source and meter changes nothing (reciprocity): the crossbar seen from its readers, turned
// so that they are drivers, has the transposed transfer matrix.
TEST_CASE("the transfer matrix is reciprocal") {
  const RowMajorMatrix conductance = random_uniform(31, 20, 0, 100e-6, 9);
  const RowMajorMatrix turned = conductance.reverse().transpose();
  const RowMajorMatrix forwards = NodalFactorisation(conductance, ohms(7, 40)).ports().transfer_matrix();
  const RowMajorMatrix backwards = NodalFactorisation(turned, ohms(40, 7)).ports().transfer_matrix();
  CHECK(largest(forwards.reverse().transpose() - backwards) < 1e-12 * largest(forwards));
}

TEST_CASE("a contiguous block of row-major memory is read in place") {
  const std::vector<double> memory = {1e-6, 2e-6, 3e-6, 4e-6, 5e-6, 6e-6};
  const Eigen::Map<const RowMajorMatrix> conductance(memory.data(), 2, 3);
  const RowMajorMatrix transfer = NodalFactorisation(conductance, ohms(0, 0)).ports().transfer_matrix();
  CHECK(transfer(2, 0) == 3e-6);
  CHECK(transfer(0, 1) == 4e-6);
}
