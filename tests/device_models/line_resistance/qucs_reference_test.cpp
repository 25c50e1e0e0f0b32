// Both solvers against a circuit simulator; tests/data/irdrop/README.md says whose results they are.
#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>

#include "base/json.hpp"
#include "device_models/line_resistance/fast_solver.hpp"
#include "device_models/line_resistance/nodal_solver.hpp"

using zbphw::Json;
using zbphw::RowMajorMatrix;

namespace {

RowMajorMatrix matrix_of(const Json& json) {
  RowMajorMatrix matrix(json.size(), json.at(0).size());
  for (std::size_t row = 0; row < json.size(); ++row) {
    for (std::size_t column = 0; column < json[row].size(); ++column) {
      const Json& value = json[row][column];
      matrix(row, column) = value == "inf" ? std::numeric_limits<double>::infinity() : value.get<double>();
    }
  }
  return matrix;
}

// 1e-9 of the reference's value, or 1e-12 where that is zero.
void check_matrix(const std::string& what, const RowMajorMatrix& got, const RowMajorMatrix& reference) {
  REQUIRE(got.rows() == reference.rows());
  REQUIRE(got.cols() == reference.cols());
  for (int row = 0; row < got.rows(); ++row) {
    for (int column = 0; column < got.cols(); ++column) {
      const double wanted = reference(row, column);
      INFO(what << " [" << row << ", " << column << "]: " << got(row, column) << ", simulator " << wanted);
      CHECK(std::abs(got(row, column) - wanted) <= (wanted == 0 ? 1e-12 : 1e-9 * std::abs(wanted)));
    }
  }
}

struct QucsCase {
  std::string name;
  Json json;
  RowMajorMatrix conductance;
  RowMajorMatrix voltage;
  zbphw::LineResistance lines;
};

std::vector<QucsCase> all_cases() {
  std::set<std::filesystem::path> paths;
  for (const auto& entry : std::filesystem::directory_iterator(ZBPHW_TEST_DATA "/irdrop")) {
    if (entry.path().extension() == ".json") paths.insert(entry.path());
  }
  std::vector<QucsCase> cases;
  for (const std::filesystem::path& path : paths) {
    QucsCase c;
    c.name = path.filename().string();
    std::ifstream(path) >> c.json;
    c.conductance = matrix_of(c.json.at("device_resistance_ohm")).cwiseInverse();
    c.voltage = matrix_of(c.json.at("applied_voltage_v"));
    c.lines.word_line_segment_ohm = c.json.at("word_line_segment_ohm");
    c.lines.bit_line_segment_ohm = c.json.at("bit_line_segment_ohm");
    cases.push_back(c);
  }
  return cases;
}

}  // namespace

TEST_CASE("all node voltages and branch currents equal those of the circuit simulator") {
  const std::vector<QucsCase> cases = all_cases();
  REQUIRE(cases.size() == 25);
  for (const QucsCase& c : cases) {
    INFO(c.name);
    const zbphw::NodalFactorisation factorisation(c.conductance, c.lines);
    const zbphw::NodeState state = factorisation.node_state(c.voltage);
    check_matrix("word node voltage", state.word_node_v, matrix_of(c.json.at("word_node_voltage_v")));
    check_matrix("bit node voltage", state.bit_node_v, matrix_of(c.json.at("bit_node_voltage_v")));
    check_matrix("device current", state.device_current_a, matrix_of(c.json.at("device_current_a")));
    check_matrix("word line current", state.word_line_current_a, matrix_of(c.json.at("word_line_current_a")));
    check_matrix("bit line current", state.bit_line_current_a, matrix_of(c.json.at("bit_line_current_a")));
    const RowMajorMatrix output = matrix_of(c.json.at("output_current_a"));
    check_matrix("output current", state.output_current_a.transpose(), output);
    check_matrix("output current", factorisation.output_currents(c.voltage).transpose(), output);
  }
}

TEST_CASE("the fast solver's output currents equal those of the circuit simulator") {
  for (const QucsCase& c : all_cases()) {
    INFO(c.name);
    zbphw::FastSolverOptions options;
    options.tolerance = 1e-11;
    const zbphw::FastResult result = zbphw::FastSolver(c.conductance, c.lines).solve(c.voltage, options);
    check_matrix("output current", result.output_current_a.transpose(), matrix_of(c.json.at("output_current_a")));
  }
}
