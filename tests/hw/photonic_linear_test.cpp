#include "hw/photonic/photonic_linear.hpp"

#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"

using namespace zbphw;

namespace {

at::Tensor normal(std::int64_t rows, std::int64_t width, std::uint64_t seed) {
  const RandomAt at(seed, stream_id("photonic test"));
  at::Tensor values = at::empty({rows, width}, at::kFloat);
  for (std::int64_t k = 0; k < values.numel(); ++k) {
    values.data_ptr<float>()[k] = static_cast<float>(at.normal(static_cast<std::uint32_t>(k)));
  }
  return values;
}

const Json exact_shifters = {{"preset", "photonic_mesh"}};

// Ideal ports, shifters and detectors, unless `more` says otherwise.
PhotonicLinear mesh(std::int64_t outputs, std::int64_t inputs, const Json& more = Json::object()) {
  Json config = {{"dac", {{"bits", "ideal"}}},
                 {"adc", {{"bits", "ideal"}, {"range", "fixed"}, {"full_scale", 1}}},
                 {"shifters", exact_shifters}};
  config.update(more);
  BlockRequest request;
  request.output_width = outputs;
  request.input_width = inputs;
  request.seed = 7;
  return PhotonicLinear(read_config<PhotonicConfig>(config, "d.json: $"), "d.json: $", request);
}

at::Tensor ask(PhotonicLinear& block, const at::Tensor& inputs, std::uint32_t first_row = 0) {
  QueryBatch batch;
  batch.inputs = inputs;
  batch.slot.first_row = first_row;
  return block.query(batch).values;
}

}  // namespace

TEST_CASE("light through perfect parts multiplies by the matrix, of any shape") {
  for (const auto& [outputs, inputs] : {std::pair{1, 1}, {5, 5}, {3, 8}, {9, 4}}) {
    const at::Tensor weights = normal(outputs, inputs, 1);
    const at::Tensor x = normal(6, inputs, 2);
    PhotonicLinear block = mesh(outputs, inputs);
    block.program(weights);
    const at::Tensor exact = at::mm(x.to(at::kDouble), weights.to(at::kDouble).t());
    CHECK((ask(block, x) - exact).abs().max().item<double>() < 2e-5);
    CHECK(block.unreached_shifters() == 0);
    const std::int64_t modes = std::max(outputs, inputs);
    CHECK(block.shifters() == 2 * modes * (modes - 1) + 2 * modes + 2 * modes);
  }
}

TEST_CASE("a detector's noise is what its current and its amplifier give") {
  // s^2 = (2 q I B + s_a^2) / I_full^2 of the amplitude, I = |a| I_full.
  const Json detector = {
      {"responsivity_a_per_w", 0.8}, {"full_scale_power_mw", 0.001}, {"bandwidth_mhz", 2000}, {"detector_noise_na", 5}};
  for (const float x : {1.0F, 0.2F}) {
    // Two inputs that are driven alike need a fixed range; a per_input one would drive both as 1.
    PhotonicLinear block = mesh(1, 1, {{"detector", detector}, {"dac", {{"bits", "ideal"}, {"range", "fixed"}}}});
    block.program(at::ones({1, 1}));
    const at::Tensor error = (ask(block, at::full({20000, 1}, x)) - x).to(at::kDouble);
    constexpr double electron = 1.602176634e-19;
    const double full_a = 0.8 * 1e-6;
    const double variance = (2 * electron * x * full_a * 2e9 + 25e-18) / (full_a * full_a);
    CHECK(std::fabs(error.square().mean().item<double>() - variance) < 5 * variance * std::sqrt(2.0 / 20000));
    CHECK(std::fabs(error.mean().item<double>()) < 5 * std::sqrt(variance / 20000));
  }
}

TEST_CASE("small phase noise errs in proportion to it") {
  // To first order the answer moves by sum_i (dy / dphase_i) s z_i.
  PhotonicLinear block = mesh(4, 4, {{"shifters", {{"preset", "photonic_mesh"}, {"phase_noise_rad", 1e-3}}}});
  block.program(normal(4, 4, 1));
  PhotonicLinear ten_times = mesh(4, 4, {{"shifters", {{"preset", "photonic_mesh"}, {"phase_noise_rad", 1e-2}}}});
  ten_times.program(normal(4, 4, 1));
  PhotonicLinear still = mesh(4, 4);
  still.program(normal(4, 4, 1));
  const at::Tensor x = normal(1, 4, 2).repeat({4000, 1});
  const at::Tensor exact = ask(still, x);
  const double small = (ask(block, x) - exact).to(at::kDouble).square().mean().item<double>();
  const double large = (ask(ten_times, x) - exact).to(at::kDouble).square().mean().item<double>();
  // Variances are quadratic in the noise: a ratio of 100, each known within sqrt(2 / 4000) for at least one output.
  CHECK(large / small == Approx(100).epsilon(5 * 2 * std::sqrt(2.0 / 4000)));
}

TEST_CASE("the same seed gives the same bits, whatever the batch and the threads") {
  const Json all = {{"shifters", {{"preset", "photonic_mesh"}, {"phase_noise_rad", 0.01}, {"gamma_spread", 0.01}}},
                    {"detector", {{"bandwidth_mhz", 1000}, {"detector_noise_na", 100}}},
                    {"adc", {{"bits", 8}, {"range", "calibrated"}, {"dither", "subtractive"}}}};
  const at::Tensor weights = normal(6, 6, 1);
  const at::Tensor x = normal(10, 6, 2);
  PhotonicLinear whole = mesh(6, 6, all);
  whole.program(weights);
  const at::Tensor together = ask(whole, x);
  PhotonicLinear part = mesh(6, 6, all);
  part.program(weights);
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  CHECK(ask(part, x.narrow(0, 7, 3), 7).equal(together.narrow(0, 7, 3)));
  at::set_num_threads(threads);
}

TEST_CASE("phase noise is fresh in every step and block, and a shifter's spread is not") {
  PhotonicLinear block = mesh(4, 4, {{"shifters", {{"preset", "photonic_mesh"}, {"phase_noise_rad", 0.01}}}});
  PhotonicLinear spread = mesh(4, 4, {{"shifters", {{"preset", "photonic_mesh"}, {"gamma_spread", 0.01}}}});
  for (PhotonicLinear* each : {&block, &spread}) {
    each->program(normal(4, 4, 1));
    QueryBatch batch;
    batch.inputs = normal(1, 4, 2);
    const at::Tensor first = each->query(batch).values;
    CHECK(each->query(batch).values.equal(first));
    batch.slot.step = 1;
    CHECK(each->query(batch).values.equal(first) == (each == &spread));
    batch.slot.step = 0;
    batch.slot.block = 1;
    CHECK(each->query(batch).values.equal(first) == (each == &spread));
  }
}

TEST_CASE("an attenuator whose phases are rounded passes what the rounded phases say") {
  // W = diag(1, 0.3): the meshes stand at multiples of pi / 2, which codes of 4 bits hit; the second attenuator does
  // not: theta = 2 asin 0.3 and phi = -pi / 2 - theta / 2, on the grid of 2 pi / 16.
  PhotonicLinear block = mesh(2, 2, {{"shifters", {{"preset", "photonic_mesh"}, {"phase_bits", 4}}}});
  block.program(at::diag(at::tensor({1.0F, 0.3F})));
  const double step = 2 * std::acos(-1.0) / 16;
  const auto rounded = [&](double phase) { return std::round(phase / step) * step; };
  const double theta = rounded(2 * std::asin(0.3));
  const double phi = rounded(-std::acos(0.0) - std::asin(0.3));
  const double answer = std::sin(theta / 2) * std::cos(std::acos(0.0) + theta / 2 + phi);
  CHECK(std::fabs(answer - 0.3) > 0.05);  // the rounding is seen
  CHECK(ask(block, at::tensor({0.0F, 1.0F}).view({1, 2}))[0][1].item<double>() == Approx(answer).epsilon(1e-5));
}

TEST_CASE("rounded phases and crosstalk change the answer of a mesh of one mode as worked by hand") {
  // W = 1: the attenuator stands at theta = pi, which codes of 4 bits hit.
  PhotonicLinear exact = mesh(1, 1, {{"shifters", {{"preset", "photonic_mesh"}, {"phase_bits", 4}}}});
  exact.program(at::ones({1, 1}));
  CHECK(std::fabs(ask(exact, at::ones({1, 1})).item<double>() - 1) < 1e-6);
  // W = 1 with crosstalk c: heaters at 0 (output of V^T), pi (theta), pi (phi: -pi modulo 2 pi), 0 (output of U).
  PhotonicLinear leaky = mesh(1, 1, {{"shifters", {{"preset", "photonic_mesh"}, {"crosstalk", {0.01}}}}});
  leaky.program(at::ones({1, 1}));
  const double pi = std::acos(-1.0);
  const double c = 0.01;
  const double input = c * pi, theta = pi + c * pi, phi = pi + c * pi, output = c * pi;
  const double answer = std::sin(theta / 2) * std::cos(input + pi / 2 + theta / 2 + phi + output);
  CHECK(ask(leaky, at::ones({1, 1})).item<double>() == Approx(answer).epsilon(1e-6));
}

TEST_CASE("a mesh books its queries, and refuses what it cannot hold or send") {
  PhotonicLinear block = mesh(3, 2, {{"heater_power_mw", 3}, {"chip", {{"array", {{"energy_pj_per_cell", 2}}}}}});
  CHECK_THROWS_WITH(ask(block, at::ones({1, 2})), Catch::Contains("holds no weights yet"));
  CHECK_THROWS_WITH(block.program(at::ones({2, 3})), Catch::Contains("have shape [2, 3]; expected [3, 2]"));
  CHECK_THROWS_WITH(block.program(at::full({3, 2}, NAN)), Catch::Contains("not finite"));
  CHECK_THROWS_WITH(block.program(at::zeros({3, 2})), Catch::Contains("all zero"));
  block.program(at::ones({3, 2}));
  CHECK_THROWS_WITH(ask(block, at::ones({1, 3})), Catch::Contains("has shape [1, 3]; expected [rows, 2]"));
  CHECK_THROWS_WITH(ask(block, at::full({2, 2}, INFINITY)), Catch::Contains("query 0 of the inputs is not finite"));
  ask(block, at::ones({5, 2}));
  CHECK(block.meter().queries == 5);
  CHECK(block.meter().adc_conversions == 15);
  // 24 shifters: 2 pJ each, and 3 mW for as long as a query lasts.
  CHECK(block.meter().energy.array_j == Approx(5 * 24 * 2e-12 + 24 * 3e-3 * block.clock_s()));
  CHECK(ask(block, at::zeros({1, 2})).abs().max().item<double>() == 0);
  const auto refused = [](const char* text) { read_config<PhotonicConfig>(Json::parse(text), "d.json: $"); };
  CHECK_THROWS_WITH(refused(R"({"adc": {"range": "per_input"}})"), Catch::Contains("$.adc.range: allowed: fixed or"));
  CHECK_THROWS_WITH(refused(R"({"dac": {"range": "calibrated"}})"), Catch::Contains("$.dac.range: allowed: fixed or"));
  CHECK_THROWS_WITH(refused(R"({"calibration_queries": 0})"), Catch::Contains("$.calibration_queries: got 0"));
  CHECK_THROWS_WITH(mesh(2, 2, {{"shifters", {{"preset", "photonic_mush"}}}}),
                    Catch::Contains("did you mean 'photonic_mesh'"));
}
