#include "device_models/line_resistance/crossbar_circuit.hpp"

#include <catch2/catch.hpp>
#include <limits>

#include "base/error.hpp"
#include "device_models/line_resistance/fast_solver.hpp"
#include "device_models/line_resistance/nodal_solver.hpp"

using Catch::Contains;
using zbphw::LineResistance;
using zbphw::RowMajorMatrix;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

RowMajorMatrix cells() { return RowMajorMatrix::Constant(2, 3, 25e-6); }

LineResistance read(const std::string& text) {
  return zbphw::read_config<LineResistance>(zbphw::Json::parse(text), "chip.json: $");
}

}  // namespace

TEST_CASE("line resistance is read from a configuration") {
  const LineResistance lines =
      read(R"({"word_line_segment_ohm": 1.5, "bit_line_segment_ohm": 5, "idle_rows": "disconnected"})");
  CHECK(lines.word_line_segment_ohm == 1.5);
  CHECK(lines.bit_line_segment_ohm == 5);
  CHECK(lines.idle_rows == zbphw::IdleRows::disconnected);
  CHECK(read("{}").idle_rows == zbphw::IdleRows::held_at_zero);
  REQUIRE_THROWS_WITH(read(R"({"word_line_segment_ohm": -1})"), Contains("word_line_segment_ohm") && Contains("-1"));
  REQUIRE_THROWS_WITH(read(R"({"idle_rows": "floating"})"), Contains("held_at_zero") && Contains("disconnected"));
}

TEST_CASE("both solvers refuse a conductance that is negative or not finite, and name the cell") {
  const double bad = GENERATE(-1e-9, infinity, not_a_number);
  RowMajorMatrix conductance = cells();
  conductance(1, 2) = bad;
  REQUIRE_THROWS_WITH(zbphw::NodalFactorisation(conductance, {}), Contains("cell [1, 2]") && Contains("at least 0"));
  REQUIRE_THROWS_WITH(zbphw::FastSolver(conductance, {}), Contains("cell [1, 2]") && Contains("at least 0"));
}

TEST_CASE("both solvers refuse a crossbar without rows or columns") {
  const RowMajorMatrix conductance = GENERATE(RowMajorMatrix(0, 3), RowMajorMatrix(3, 0), RowMajorMatrix(0, 0));
  REQUIRE_THROWS_WITH(zbphw::NodalFactorisation(conductance, {}), Contains("at least one row and one column"));
  REQUIRE_THROWS_WITH(zbphw::FastSolver(conductance, {}), Contains("at least one row and one column"));
}

TEST_CASE("both solvers refuse a segment that is negative, open or not a number") {
  const double bad = GENERATE(-1.0, infinity, not_a_number, 1e-320);
  const LineResistance word{bad, 1, zbphw::IdleRows::held_at_zero};
  const LineResistance bit{1, bad, zbphw::IdleRows::held_at_zero};
  REQUIRE_THROWS_WITH(zbphw::NodalFactorisation(cells(), word), Contains("word_line_segment_ohm"));
  REQUIRE_THROWS_WITH(zbphw::NodalFactorisation(cells(), bit), Contains("bit_line_segment_ohm"));
  REQUIRE_THROWS_WITH(zbphw::FastSolver(cells(), word), Contains("word_line_segment_ohm"));
  REQUIRE_THROWS_WITH(zbphw::FastSolver(cells(), bit), Contains("bit_line_segment_ohm"));
}

TEST_CASE("both solvers refuse voltages of a wrong shape or that are not finite") {
  const LineResistance lines{1, 1, GENERATE(zbphw::IdleRows::held_at_zero, zbphw::IdleRows::disconnected)};
  const zbphw::NodalFactorisation exact(cells(), lines);
  const zbphw::FastSolver fast(cells(), lines);
  const RowMajorMatrix three_rows = RowMajorMatrix::Constant(3, 4, 0.1);
  REQUIRE_THROWS_WITH(exact.output_currents(three_rows), Contains("[3, 4]") && Contains("[2, vectors]"));
  REQUIRE_THROWS_WITH(exact.ports().driver_currents(three_rows, lines.idle_rows), Contains("[3, 4]"));
  REQUIRE_THROWS_WITH(exact.node_state(three_rows), Contains("[3, 4]"));
  REQUIRE_THROWS_WITH(fast.solve(three_rows, {}), Contains("[3, 4]"));
  REQUIRE_THROWS_WITH(exact.node_state(RowMajorMatrix::Constant(2, 2, 0.1)), Contains("2 vectors"));
  RowMajorMatrix voltage = RowMajorMatrix::Constant(2, 4, 0.1);
  voltage(1, 3) = GENERATE(infinity, not_a_number);
  REQUIRE_THROWS_WITH(exact.output_currents(voltage), Contains("voltage [1, 3]"));
  REQUIRE_THROWS_WITH(fast.solve(voltage, {}), Contains("voltage [1, 3]"));
}

TEST_CASE("bad data and bad configuration have their kinds") {
  try {
    zbphw::check_crossbar(RowMajorMatrix(0, 0), {});
    FAIL("accepted");
  } catch (const zbphw::Error& error) {
    CHECK(error.kind() == zbphw::ErrorKind::data);
  }
  try {
    zbphw::check_crossbar(cells(), {infinity, 0, zbphw::IdleRows::held_at_zero});
    FAIL("accepted");
  } catch (const zbphw::Error& error) {
    CHECK(error.kind() == zbphw::ErrorKind::config);
  }
}

TEST_CASE("no vectors in, no vectors out") {
  const LineResistance lines{1, 1, zbphw::IdleRows::disconnected};
  const RowMajorMatrix none(2, 0);
  CHECK(zbphw::NodalFactorisation(cells(), lines).output_currents(none).rows() == 3);
  CHECK(zbphw::NodalFactorisation(cells(), lines).output_currents(none).cols() == 0);
  CHECK(zbphw::FastSolver(cells(), lines).solve(none, {}).output_current_a.cols() == 0);
}
