#include "device_models/line_resistance/fast_solver.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "device_models/line_resistance/nodal_solver.hpp"
#include "random_crossbar.hpp"

using Catch::Contains;
using zbphw::FastResult;
using zbphw::FastSolver;
using zbphw::FastSolverOptions;
using zbphw::IdleRows;
using zbphw::RowMajorMatrix;

namespace {

FastSolverOptions tolerance(double residual) {
  FastSolverOptions options;
  options.tolerance = residual;
  return options;
}

}  // namespace

// The bound that the header derives: the errors of all outputs add up to the residual times the current in all cells.
TEST_CASE("the fast solver agrees with the exact one within the residual that it returns") {
  const double word = GENERATE(0.0, 1.0, 50.0);
  const double bit = GENERATE(0.0, 5.0, 400.0);
  const IdleRows idle = GENERATE(IdleRows::held_at_zero, IdleRows::disconnected);
  const double wanted = GENERATE(1e-3, 1e-6, 1e-11);
  const RowMajorMatrix conductance = random_uniform(48, 33, 0, 100e-6, 21);
  const RowMajorMatrix voltage = random_uniform(48, 3, -0.2, 0.2, 22).cwiseProduct(random_binary(48, 3, 1, 0.6, 23));
  const zbphw::NodalFactorisation exact(conductance, {word, bit, idle});
  const FastResult fast = FastSolver(conductance, {word, bit, idle}).solve(voltage, tolerance(wanted));
  for (int vector = 0; vector < 3; ++vector) {
    const zbphw::NodeState state = exact.node_state(voltage.col(vector));
    const double error = (fast.output_current_a.col(vector) - state.output_current_a).cwiseAbs().sum();
    const double cells = state.device_current_a.cwiseAbs().sum();
    CHECK(fast.residual[vector] <= wanted);
    // The bound holds with the current of the approximate state, of which only this much is known; 1e-15 is rounding.
    CHECK(error <= (fast.residual[vector] * (1 + 10 * wanted) + 1e-15) * cells);
  }
}

TEST_CASE("a looser tolerance takes fewer iterations and leaves a larger error") {
  const RowMajorMatrix conductance = RowMajorMatrix::Constant(96, 96, 100e-6);
  const RowMajorMatrix voltage = RowMajorMatrix::Constant(96, 1, 0.2);
  const zbphw::LineResistance lines{5, 5, IdleRows::held_at_zero};
  const RowMajorMatrix exact = zbphw::NodalFactorisation(conductance, lines).output_currents(voltage);
  const FastResult loose = FastSolver(conductance, lines).solve(voltage, tolerance(1e-2));
  const FastResult tight = FastSolver(conductance, lines).solve(voltage, tolerance(1e-10));
  CHECK(loose.iterations[0] < tight.iterations[0]);
  CHECK(tight.iterations[0] <= 10);  // 8 were measured; steepest descent would need dozens
  CHECK((tight.output_current_a - exact).norm() < 1e-3 * (loose.output_current_a - exact).norm());
}

TEST_CASE("no convergence within the limit is a numerical error that names the vector") {
  const RowMajorMatrix conductance = random_uniform(48, 33, 0, 100e-6, 24);
  RowMajorMatrix voltage = RowMajorMatrix::Zero(48, 3);
  voltage.col(2).setConstant(0.2);
  FastSolverOptions options;
  options.iteration_limit = 2;
  const FastSolver solver(conductance, {50, 50, IdleRows::held_at_zero});
  REQUIRE_THROWS_WITH(solver.solve(voltage, options), Contains("vector 2") && Contains("2 iterations"));
  try {
    solver.solve(voltage, options);
    FAIL("converged");
  } catch (const zbphw::Error& error) {
    CHECK(error.kind() == zbphw::ErrorKind::numerical);
  }
}

TEST_CASE("a tolerance below rounding is refused, on either kind of line") {
  // A segment of 1e-9 ohm turns the rounding of a voltage into a large current left over.
  const RowMajorMatrix conductance = random_uniform(48, 33, 0, 100e-6, 25);
  const RowMajorMatrix voltage = random_uniform(48, 1, 0.1, 0.2, 26);
  const FastSolver tiny_word(conductance, {1e-9, 0, IdleRows::held_at_zero});
  REQUIRE_THROWS_WITH(tiny_word.solve(voltage, tolerance(1e-9)), Contains("solve exactly"));
  const FastSolver both(conductance, {1, 1, IdleRows::held_at_zero});
  REQUIRE_THROWS_WITH(both.solve(voltage, tolerance(1e-18)), Contains("solve exactly"));
}
