// What a row without input does to the others: held at 0 V it takes current, disconnected it floats.
#include <catch2/catch.hpp>

#include "dense_nodal_analysis.hpp"
#include "device_models/line_resistance/fast_solver.hpp"
#include "device_models/line_resistance/nodal_solver.hpp"
#include "random_crossbar.hpp"

using zbphw::IdleRows;
using zbphw::NodalFactorisation;
using zbphw::RowMajorMatrix;

namespace {

double largest(const Eigen::MatrixXd& matrix) { return matrix.cwiseAbs().maxCoeff(); }

std::vector<bool> driven_rows(const RowMajorMatrix& voltage, int vector) {
  std::vector<bool> driven;
  for (int row = 0; row < voltage.rows(); ++row) driven.push_back(voltage(row, vector) != 0);
  return driven;
}

}  // namespace

TEST_CASE("idle rows equal a dense nodal analysis with and without their drivers") {
  const RowMajorMatrix conductance = random_uniform(12, 10, 1e-6, 100e-6, 11);
  RowMajorMatrix voltage = random_uniform(12, 3, -0.2, 0.2, 12);
  for (const int row : {0, 3, 4, 11}) voltage(row, 0) = voltage(row, 1) = 0;
  voltage.col(2).tail(11).setZero();  // one driven row
  const NodalFactorisation held(conductance, {20, 50, IdleRows::held_at_zero});
  const NodalFactorisation disconnected(conductance, {20, 50, IdleRows::disconnected});
  const RowMajorMatrix held_a = held.output_currents(voltage);
  const RowMajorMatrix disconnected_a = disconnected.output_currents(voltage);
  for (int vector = 0; vector < 3; ++vector) {
    const DenseNodalAnalysis with =
        dense_nodal_analysis(conductance, 20, 50, voltage.col(vector), std::vector<bool>(12, true));
    const DenseNodalAnalysis without =
        dense_nodal_analysis(conductance, 20, 50, voltage.col(vector), driven_rows(voltage, vector));
    CHECK(largest(held_a.col(vector) - with.output_a) < 1e-12 * largest(with.output_a));
    CHECK(largest(disconnected_a.col(vector) - without.output_a) < 1e-12 * largest(without.output_a));
    CHECK(largest(with.output_a - without.output_a) > 1e-3 * largest(with.output_a));  // the case tells them apart
    const zbphw::NodeState state = disconnected.node_state(voltage.col(vector));
    CHECK(largest(state.word_node_v - without.word_v) < 1e-14);
    CHECK(largest(state.bit_node_v - without.bit_v) < 1e-14);
  }
}

TEST_CASE("with ideal bit lines a disconnected row sits at 0 V, and termination changes nothing") {
  const RowMajorMatrix conductance = random_uniform(12, 10, 1e-6, 100e-6, 13);
  RowMajorMatrix voltage = random_uniform(12, 1, -0.2, 0.2, 14);
  voltage.topRows(5).setZero();
  const double word = GENERATE(0.0, 20.0);
  const NodalFactorisation factorisation(conductance, {word, 0, IdleRows::disconnected});
  const RowMajorMatrix held = factorisation.ports().output_currents(voltage, IdleRows::held_at_zero);
  CHECK(largest(factorisation.output_currents(voltage) - held) < 1e-15 * largest(held));
  CHECK(largest(factorisation.node_state(voltage).row_voltage_v.head(5)) < 1e-15);
}

// With ideal word lines a floating row has one node, at the mean of its bit nodes weighted by conductance.
TEST_CASE("an ideal word line floats to the weighted mean of its bit nodes") {
  const RowMajorMatrix conductance = random_uniform(6, 8, 1e-6, 100e-6, 15);
  RowMajorMatrix voltage = random_uniform(6, 1, 0.1, 0.2, 16);
  voltage(2, 0) = 0;
  const zbphw::NodeState state = NodalFactorisation(conductance, {0, 80, IdleRows::disconnected}).node_state(voltage);
  const double mean = conductance.row(2).dot(state.bit_node_v.row(2)) / conductance.row(2).sum();
  CHECK(mean > 1e-3);
  CHECK(state.row_voltage_v[2] == Approx(mean).epsilon(1e-12));
}

TEST_CASE("a disconnected row of open cells, and no input at all, are solved") {
  RowMajorMatrix conductance = random_uniform(5, 4, 1e-6, 100e-6, 17);
  conductance.row(3).setZero();
  RowMajorMatrix voltage = random_uniform(5, 2, 0.1, 0.2, 18);
  voltage(3, 0) = 0;
  voltage.col(1).setZero();
  const double word = GENERATE(0.0, 10.0);
  const zbphw::LineResistance lines{word, 10, IdleRows::disconnected};
  const NodalFactorisation exact(conductance, lines);
  const RowMajorMatrix output = exact.output_currents(voltage);
  CHECK(largest(output.col(0) - exact.ports().output_currents(voltage, IdleRows::held_at_zero).col(0)) < 1e-18);
  CHECK(largest(output.col(1)) == 0);
  CHECK(exact.node_state(voltage.col(0)).row_voltage_v[3] == 0);
  const zbphw::FastResult fast = zbphw::FastSolver(conductance, lines).solve(voltage, {});
  CHECK((fast.output_current_a - output).cwiseAbs().sum() < 1e-9 * output.cwiseAbs().sum());
  CHECK(largest(fast.output_current_a.col(1)) == 0);
}
