#include "hw/equilibrium/equilibrium_block.hpp"

#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own

#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.hpp"
#include "base/json.hpp"

using Catch::Contains;
using zbphw::BenchDynamics;
using zbphw::EquilibriumBlock;
using zbphw::EquilibriumConfig;
using zbphw::RelaxationConfig;
using zbphw::RelaxationStart;

namespace {

// Normal values of a fixed place in the random numbers.
at::Tensor normal(std::int64_t rows, std::int64_t width, std::uint64_t seed) {
  const zbphw::RandomAt at(seed, zbphw::stream_id("test"));
  at::Tensor values = at::empty({rows, width}, at::kDouble);
  for (std::int64_t k = 0; k < rows * width; ++k)
    values.data_ptr<double>()[k] = at.normal(static_cast<std::uint32_t>(k));
  return values;
}

double largest(const at::Tensor& tensor) { return tensor.abs().max().item<double>(); }

EquilibriumConfig exact_config(double gain, bool reciprocal) {
  EquilibriumConfig config;
  config.dynamics = {gain, reciprocal};
  config.dac.bits.reset();
  config.adc.bits.reset();
  config.relaxation = {0.1, 1e-6, 5000};
  config.chip.array.settle_ns = 10;
  return config;
}

zbphw::BlockRequest request_of(std::int64_t width, zbphw::Fidelity fidelity, std::uint64_t seed = 3) {
  zbphw::BlockRequest request;
  request.output_width = width;
  request.fidelity = fidelity;
  request.seed = seed;
  return request;
}

}  // namespace

TEST_CASE("the network's Jacobian is the slope of its force") {
  for (const bool reciprocal : {true, false}) {
    const BenchDynamics dynamics({0.9, reciprocal}, 7, 5);
    const at::Tensor x = normal(1, 7, 1);
    const at::Tensor z = normal(1, 7, 2);
    const at::Tensor jacobian = dynamics.jacobian(z[0]);
    constexpr double h = 1e-6;
    for (std::int64_t j = 0; j < 7; ++j) {
      at::Tensor step = at::zeros({1, 7}, at::kDouble);
      step[0][j] = h;
      const at::Tensor slope = (dynamics.force(z + step, x) - dynamics.force(z - step, x))[0] / (2 * h);
      CHECK(largest(slope - jacobian.select(1, j)) < 1e-8);
    }
    CHECK((largest(jacobian - jacobian.t()) < 1e-15) == reciprocal);
  }
}

TEST_CASE("relaxation step by step ends where Newton's method does") {
  for (const bool reciprocal : {true, false}) {
    const BenchDynamics dynamics({0.9, reciprocal}, 24, 5);
    const RelaxationStart start{normal(6, 24, 1), {}, {}};
    const at::Tensor exact = fixed_point(dynamics, start);
    CHECK(largest(dynamics.force(exact, start.clamped)) < 1e-11);
    const zbphw::Relaxed relaxed = relax(dynamics, {0.2, 1e-13, 20000}, start, {});
    CHECK(relaxed.settled.all().item<bool>());
    CHECK(largest(relaxed.state - exact) < 1e-10);
  }
}

TEST_CASE("a pushed node without neighbours approaches its end by 1 - step at every step") {
  const BenchDynamics dynamics({1e-12, true}, 4, 5);
  const at::Tensor x = at::ones({1, 4}, at::kDouble);
  const RelaxationStart start{x, {}, x * 0.5};
  const zbphw::Relaxed relaxed = relax(dynamics, {0.1, 1e-3, 1000}, start, {});
  // z_k = 1 + 0.5 (1 - 0.9^k); the step taken from it is 0.05 0.9^k, of |z_k|.
  std::int64_t steps = 1;
  while (0.05 * std::pow(0.9, steps - 1) / (1 + 0.5 * (1 - std::pow(0.9, steps - 1))) >= 1e-3) ++steps;
  CHECK(relaxed.steps[0].item<std::int64_t>() == steps);
  CHECK(largest(relaxed.state - (1 + 0.5 * (1 - std::pow(0.9, static_cast<double>(steps))))) < 1e-10);
}

TEST_CASE("mismatched time constants change the way to the fixed point and not the point") {
  EquilibriumConfig config = exact_config(0.8, true);
  config.relaxation.tolerance = 3e-7;
  const at::Tensor x = normal(5, 32, 1).to(at::kFloat);
  zbphw::SettleRequest request;
  request.inputs = x;
  EquilibriumBlock alike(config, request_of(32, zbphw::Fidelity::noisy));
  config.time_constant_spread = 0.2;
  EquilibriumBlock spread(config, request_of(32, zbphw::Fidelity::noisy));
  const auto first = alike.settle(request);
  const auto second = spread.settle(request);
  // Each may stop short by tolerance |z| / (step (1 - gain)), about 1e-4 of a state of order 1.
  CHECK(largest(first.values - second.values) < 2e-4);
  CHECK_FALSE(first.steps.equal(second.steps));
}

TEST_CASE("noise inside the dynamics has the stationary variance of the discrete Ornstein-Uhlenbeck process") {
  // sigma^2 / (1 - step / 2), and after k steps from rest that times 1 - (1 - step)^2k.
  const BenchDynamics dynamics({1e-12, true}, 50, 5);
  const RelaxationConfig config{0.2, 1e-6, 1000};
  const RelaxationStart start{at::zeros({400, 50}, at::kDouble), {}, {}};
  const at::Tensor steps = at::full({400}, 40, at::kLong);
  const zbphw::DynamicsNoise noise{at::full({400}, 0.03, at::kDouble), {7, zbphw::stream_id("noise")}, 0};
  const at::Tensor z = relax_noisily(dynamics, config, start, {}, steps, noise);
  const double expected = 0.03 * 0.03 / (1 - 0.1) * (1 - std::pow(0.8, 80));
  const double measured = z.square().mean().item<double>();
  // 20,000 independent values: five standard errors of a variance.
  CHECK(std::fabs(measured - expected) < 5 * expected * std::sqrt(2.0 / 20000));
  CHECK(std::fabs(z.mean().item<double>()) < 5 * std::sqrt(expected / 20000));
}

TEST_CASE("averaging reads divides the read noise, and readout_noise predicts it") {
  EquilibriumConfig config = exact_config(0.5, true);
  config.adc.range = zbphw::RangeSource::fixed;
  config.adc.full_scale = 8;
  config.read_noise_fraction = 0.01;
  for (const std::int64_t reads : {1, 4}) {
    config.reads = reads;
    EquilibriumBlock block(config, request_of(64, zbphw::Fidelity::noisy));
    zbphw::SettleRequest request;
    request.inputs = normal(1, 64, 1).to(at::kFloat).repeat({300, 1});
    const auto settled = block.settle(request);
    const double variance = (settled.values - settled.state).to(at::kDouble).square().mean().item<double>();
    const double expected = 0.08 * 0.08 / static_cast<double>(reads);
    CHECK(std::fabs(variance - expected) < 5 * expected * std::sqrt(2.0 / (300 * 64)));
    CHECK(block.readout_noise(request.inputs, 0, 0)[0].item<double>() == Approx(std::sqrt(expected)).epsilon(1e-6));
    CHECK(block.meter().adc_conversions == 300 * 64 * reads);
  }
}

TEST_CASE("what a batch takes is what its slowest row takes, a row after the other") {
  EquilibriumConfig config = exact_config(0.8, true);
  config.chip.array.energy_pj_per_cell = 0.001;
  EquilibriumBlock block(config, request_of(16, zbphw::Fidelity::noisy));
  zbphw::SettleRequest request;
  request.inputs = normal(9, 16, 1).to(at::kFloat);
  const auto settled = block.settle(request);
  const double time_constants = 0.1 * settled.steps.max().item<double>();
  zbphw::ChipConfig still = config.chip;
  still.array.settle_ns = 0;
  const zbphw::QueryShape shape{16, 16, 2 * 16 * 16, 16, 16};
  const double latency_s = query_timing(still, shape).latency_s() + time_constants * 10e-9;
  CHECK(block.clock_s() == Approx(9 * latency_s).epsilon(1e-9));
  CHECK(block.meter().busy_s == block.clock_s());
  CHECK(block.meter().energy.array_j == Approx(9 * 512 * time_constants * 1e-15).epsilon(1e-9));
}

TEST_CASE("the centred contrast of a reciprocal network gives the adjoint, to second order in the nudge") {
  // a = -(z(+beta) - z(-beta)) / (2 beta) with push -+beta l  ->  lambda = -J^-T l.
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const double gain = 0.4 + 0.05 * static_cast<double>(seed);
    EquilibriumBlock block(exact_config(gain, true), request_of(12, zbphw::Fidelity::ideal, seed));
    zbphw::SettleRequest request;
    request.inputs = normal(1, 12, seed);
    const at::Tensor nudge = normal(1, 12, seed + 100);
    const at::Tensor free = block.settle(request).state;
    const at::Tensor adjoint = -at::linalg_solve(block.dynamics().jacobian(free[0]).t(), nudge[0]);
    const auto error = [&](double beta) {
      request.push = -beta * nudge;
      const at::Tensor up = block.settle(request).state;
      request.push = beta * nudge;
      const at::Tensor down = block.settle(request).state;
      const at::Tensor contrast = -(up - down)[0] / (2 * beta);
      return ((contrast - adjoint).norm() / adjoint.norm()).item<double>();
    };
    CHECK(std::log2(error(0.02) / error(0.01)) == Approx(2.0).margin(0.05));
  }
}

TEST_CASE("the same seed and slot give the same bits, whatever else is in the batch") {
  EquilibriumConfig config = exact_config(0.8, true);
  config.dynamics_noise_fraction = 0.01;
  config.read_noise_fraction = 0.01;
  const at::Tensor x = normal(6, 16, 1).to(at::kFloat);
  EquilibriumBlock whole(config, request_of(16, zbphw::Fidelity::noisy));
  zbphw::SettleRequest request;
  request.inputs = x;
  request.slot.start_s = 0;
  const at::Tensor together = whole.settle(request).values;
  EquilibriumBlock part(config, request_of(16, zbphw::Fidelity::noisy));
  request.inputs = x.narrow(0, 4, 2);
  request.slot.first_row = 4;
  CHECK(part.settle(request).values.equal(together.narrow(0, 4, 2)));
  EquilibriumBlock other(config, request_of(16, zbphw::Fidelity::noisy, 4));
  CHECK_FALSE(other.settle(request).values.equal(together.narrow(0, 4, 2)));
}

TEST_CASE("an equilibrium block refuses what it cannot settle") {
  EquilibriumConfig config = exact_config(0.9, true);
  config.relaxation.most_steps = 3;
  EquilibriumBlock block(config, request_of(8, zbphw::Fidelity::noisy));
  zbphw::QueryBatch batch;
  batch.inputs = normal(2, 8, 1).to(at::kFloat);
  CHECK_THROWS_WITH(block.query(batch), Contains("query 0 did not settle: after 3 steps"));
  batch.inputs[1][2] = NAN;
  CHECK_THROWS_WITH(block.query(batch), Contains("query 1 of the inputs is not finite"));
  batch.inputs = at::zeros({2, 9});
  CHECK_THROWS_WITH(block.query(batch), Contains("has shape [2, 9]; expected [rows, 8]"));
  const auto refused = [](const char* text) {
    zbphw::read_config<EquilibriumConfig>(zbphw::Json::parse(text), "d.json: $");
  };
  CHECK_THROWS_WITH(refused(R"({"dynamics": {"gain": 0}})"), Contains("$.dynamics.gain: got 0"));
  CHECK_THROWS_WITH(refused(R"({"relaxation": {"step": 1.5}})"), Contains("$.relaxation.step: got 1.5"));
  CHECK_THROWS_WITH(refused(R"({"relaxation": {"most_steps": 0}})"), Contains("$.relaxation.most_steps: got 0"));
  CHECK_THROWS_WITH(refused(R"({"time_constant_spread": -0.1})"), Contains("$.time_constant_spread: got -0.1"));
  CHECK_THROWS_WITH(refused(R"({"dac": {"dither": "subtractive"}})"), Contains("$.dac.dither: an equilibrium block"));
  CHECK_THROWS_WITH(refused(R"({"adc": {"range": "calibrated"}})"), Contains("$.adc.range: an equilibrium block"));
}
