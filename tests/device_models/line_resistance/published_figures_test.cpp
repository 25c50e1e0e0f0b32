// Losses of a 256 x 256 array, 1 ohm a segment, cells uniform from 0 to 25 uS, inputs on or off with probability one
// half.
#include <catch2/catch.hpp>
#include <cmath>

#include "device_models/line_resistance/nodal_solver.hpp"
#include "random_crossbar.hpp"

using zbphw::IdleRows;
using zbphw::NodalFactorisation;
using zbphw::RowMajorMatrix;

namespace {

constexpr int size = 256;

// 1 - what is read / what an ideal crossbar would give, both summed over columns and vectors.
double loss(const RowMajorMatrix& output, const RowMajorMatrix& conductance, const RowMajorMatrix& voltage) {
  return 1 - output.sum() / (conductance.transpose() * voltage).sum();
}

// Of a bit line with evenly spread cells of this total conductance, all driven: tanh(a) / a arrives.
double continuous_line_loss(double segment_ohm, double total_siemens) {
  const double a = std::sqrt(size * segment_ohm * total_siemens);
  return 1 - std::tanh(a) / a;
}

}  // namespace

TEST_CASE("losses at 256 x 256 are the published ones, each under its own conditions") {
  const RowMajorMatrix conductance = random_uniform(size, size, 0, 25e-6, 31);
  const RowMajorMatrix voltage = random_binary(size, 20, 0.1, 0.5, 32);
  const double mean_total = size * 12.5e-6;

  const NodalFactorisation bit_lines(conductance, {0, 1, IdleRows::held_at_zero});
  const double held = loss(bit_lines.output_currents(voltage), conductance, voltage);
  const double disconnected =
      loss(bit_lines.ports().output_currents(voltage, IdleRows::disconnected), conductance, voltage);
  // Held at 0 V, an idle row's cells load the bit line like active ones; disconnected, they are not there.
  CHECK(held == Approx(continuous_line_loss(1, mean_total)).margin(0.01));              // 0.206; published 0.211
  CHECK(disconnected == Approx(continuous_line_loss(1, mean_total / 2)).margin(0.01));  // 0.117; published 0.118

  const NodalFactorisation both(conductance, {1, 1, IdleRows::held_at_zero});
  CHECK(loss(both.output_currents(voltage), conductance, voltage) == Approx(0.35).margin(0.01));
}

TEST_CASE("word lines alone lose what bit lines alone lose, and termination of idle rows does not matter") {
  const RowMajorMatrix conductance = RowMajorMatrix::Constant(size, size, 12.5e-6);
  const RowMajorMatrix voltage = random_binary(size, 5, 0.1, 0.5, 33);
  const NodalFactorisation word_lines(conductance, {1, 0, IdleRows::disconnected});
  const double lost = loss(word_lines.output_currents(voltage), conductance, voltage);
  CHECK(lost == Approx(continuous_line_loss(1, size * 12.5e-6)).margin(0.002));
  CHECK(lost ==
        Approx(loss(word_lines.ports().output_currents(voltage, IdleRows::held_at_zero), conductance, voltage)));
}
