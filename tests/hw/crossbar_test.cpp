#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "base/random.hpp"
#include "hw/crossbar/crossbar_linear.hpp"

using namespace zbphw;
using Catch::Contains;

namespace {

at::Tensor normal_tensor(std::int64_t rows, std::int64_t width, std::uint32_t which) {
  std::vector<float> values(static_cast<std::size_t>(rows * width));
  const RandomAt at(9, stream_id("test tensor"), which);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(at.normal(i));
  return at::from_blob(values.data(), {rows, width}, at::kFloat).clone();
}

// Exact cells, ideal converters and one big tile; `changes` are laid over it.
CrossbarConfig config_with(const std::vector<std::pair<std::string, Json>>& changes) {
  Json json = {{"cell", {{"preset", "generic_exact"}}}, {"dac", {{"bits", "ideal"}}}, {"adc", {{"bits", "ideal"}}}};
  for (const auto& [key, value] : changes) json[key] = value;
  return read_config<CrossbarConfig>(json, "test: $");
}

CrossbarLinear programmed(const CrossbarConfig& config, const at::Tensor& weights, CrossbarEffects effects = {}) {
  CrossbarRequest request;
  request.outputs = weights.size(0);
  request.inputs = weights.size(1);
  request.effects = effects;
  CrossbarLinear block(config, request);
  block.program(weights);
  return block;
}

at::Tensor ask(CrossbarLinear& block, const at::Tensor& inputs) {
  QueryBatch batch;
  batch.inputs = inputs;
  return block.query(batch).values;
}

Json generic_cell(const Json& changes) {
  Json cell = {{"preset", "generic_exact"}};
  cell.update(changes);
  return cell;
}

double mean_of(const at::Tensor& t) { return t.to(at::kDouble).mean().item<double>(); }
double variance_of(const at::Tensor& t) { return t.to(at::kDouble).var(false).item<double>(); }

}  // namespace

TEST_CASE("a crossbar without effects is the matrix product, whatever the tiles") {
  for (const std::int64_t tile_rows : {1, 7, 8, 64}) {
    for (const std::int64_t tile_columns : {1, 5, 64}) {
      const at::Tensor weights = normal_tensor(5, 17, 1);
      const at::Tensor inputs = normal_tensor(3, 17, 2);
      auto block = programmed(config_with({{"tile_rows", tile_rows}, {"tile_columns", tile_columns}}), weights);
      CHECK(at::allclose(ask(block, inputs), at::mm(inputs, weights.t()), 1e-5, 1e-5));
    }
  }
}

TEST_CASE("switching every effect off makes a real device exact") {
  const at::Tensor weights = normal_tensor(6, 30, 1);
  const at::Tensor inputs = normal_tensor(4, 30, 2);
  const Json cell = {{"preset", "pcm_joshi_2020"},
                     {"device_to_device", {{"spread", 0.1}, {"stuck_off_fraction", 0.1}, {"stuck_on_fraction", 0.1}}},
                     {"temperature", {{"temperature_k", 350}, {"reference_k", 300}, {"coefficient_per_k", -0.002}}}};
  const CrossbarConfig config =
      config_with({{"cell", cell},
                   {"dac", {{"bits", 4}}},
                   {"adc", {{"bits", 4}, {"range", "calibrated"}}},
                   {"output_noise_fraction", 0.01},
                   {"input_noise_fraction", 0.01},
                   {"comparator_noise_steps", 1},
                   {"column_mismatch", {{"gain_spread", 0.1}, {"offset_spread_fraction", 0.1}}},
                   {"lines", {{"word_line_segment_ohm", 5}, {"bit_line_segment_ohm", 5}}}});
  const at::Tensor exact = at::mm(inputs, weights.t());
  auto with = programmed(config, weights);
  CHECK_FALSE(at::allclose(ask(with, inputs), exact, 1e-2, 1e-2));
  auto without = programmed(config, weights, CrossbarEffects::none());
  without.age_to(1e6);
  CHECK(at::allclose(ask(without, inputs), exact, 1e-5, 1e-5));
}

TEST_CASE("read noise at the output has the distribution of one draw for each cell (five standard errors)") {
  const std::int64_t inputs = 12, queries = 40000;
  const at::Tensor weights = normal_tensor(1, inputs, 1);
  const at::Tensor x = normal_tensor(1, inputs, 2);
  const double t_s = 3600;
  auto block = programmed(config_with({{"cell", {{"preset", "pcm_joshi_2020"}}}, {"tile_rows", 5}}), weights);
  block.age_to(t_s);
  const at::Tensor read = ask(block, x.expand({queries, inputs}));

  // The slow way: every cell draws its own noise at every query.
  std::vector<double> slow(static_cast<std::size_t>(queries), 0.0);
  const double weight_per_us = weights.abs().max().item<double>() / 25.0;  // g_max of the preset
  const RandomAt normals(77, stream_id("oracle"));
  for (const ProgrammedTile& tile : block.arrays().tiles()) {
    const CellPairs g = tile.conductance_us(t_s);
    const CellPairs s = tile.read_deviation_us(g, t_s);
    for (std::int64_t i = 0; i < tile.place().inputs; ++i) {
      const std::int64_t input = tile.place().first_input + i;
      const double value = x[0][input].item<double>() * weight_per_us;
      for (std::uint32_t q = 0; q < queries; ++q) {
        const PhiloxCounter w = normals.with_query(q).words(static_cast<std::uint32_t>(input));
        const NormalPair z = normal_pair(w[0], w[1]);
        slow[q] += value * (g.plus[i] + s.plus[i] * z.first - g.minus[i] - s.minus[i] * z.second);
      }
    }
  }
  const at::Tensor oracle = at::from_blob(slow.data(), {queries}, at::kDouble);
  const double sd = std::sqrt(variance_of(oracle));
  const double n = queries;
  REQUIRE(sd > 0);
  CHECK(std::abs(mean_of(read) - mean_of(oracle)) < 5 * sd * std::sqrt(2 / n));
  CHECK(variance_of(read) == Approx(variance_of(oracle)).epsilon(5 * std::sqrt(4 / n)));
  const at::Tensor standard = (read.to(at::kDouble) - mean_of(read)) / sd;
  CHECK(mean_of(standard.pow(3)) == Approx(0).margin(5 * std::sqrt(15 / n)));
  CHECK(mean_of(standard.pow(4)) == Approx(3).margin(5 * std::sqrt(96 / n)));
  // Neighbouring queries share one draw, as a Box-Muller pair: they must not be correlated.
  const at::Tensor pairs = standard.reshape({queries / 2, 2});
  CHECK(mean_of(pairs.select(1, 0) * pairs.select(1, 1)) == Approx(0).margin(5 * std::sqrt(2 / n)));
}

TEST_CASE("programming errors of both cells add up in the weight (five standard errors)") {
  const at::Tensor weights = at::full({200, 100}, 0.5);
  const auto config = config_with({{"cell", generic_cell({{"programming", {{"sd_us", 2.0}}}})},
                                   {"mapping", {{"scale", "fixed"}, {"weight_full_scale", 1}}}});
  auto block = programmed(config, weights);
  const at::Tensor error = ask(block, at::eye(100)) - weights.t();
  // G+ is 50 uS and errs by 2; G- is asked for 0, and its negative half is cut: variance s^2 (1/2 - 1/(2 pi)).
  const double pi = 3.14159265358979;
  const double expected = (4.0 + 4.0 * (0.5 - 0.5 / pi)) / 1e4;
  CHECK(variance_of(error) == Approx(expected).epsilon(5 * std::sqrt(2.5 / 20000)));
  CHECK(mean_of(error) == Approx(-2.0 / std::sqrt(2 * pi) / 100).margin(5 * std::sqrt(expected / 20000)));
}

TEST_CASE("drift takes the same factor from every output, and compensation gives it back") {
  const at::Tensor weights = normal_tensor(6, 40, 1);
  const at::Tensor inputs = normal_tensor(8, 40, 2);
  const Json cell = generic_cell({{"drift", {{"mean", 0.06}, {"t0_s", 20.0}}}});
  const at::Tensor exact = at::mm(inputs, weights.t());
  for (const bool compensated : {false, true}) {
    auto block = programmed(config_with({{"cell", cell}, {"drift_compensation", compensated}}), weights);
    CHECK(at::allclose(ask(block, inputs), exact, 1e-5, 1e-5));
    block.age_to(1e6);
    const double gain = compensated ? 1.0 : std::pow((1e6 + 20) / 20, -0.06);
    CHECK(at::allclose(ask(block, inputs), exact * gain, 1e-5, 1e-5));
  }
}

TEST_CASE("ageing to the first time changes no bit") {
  const at::Tensor weights = normal_tensor(6, 40, 1);
  const at::Tensor inputs = normal_tensor(8, 40, 2);
  for (const char* preset : {"pcm_joshi_2020", "rram_wan_2022_aihwkit", "sonos_agrawal_2022"}) {
    const auto config = config_with({{"cell", {{"preset", preset}}}, {"drift_compensation", true}});
    auto fresh = programmed(config, weights);
    auto aged = programmed(config, weights);
    aged.age_to(1e5);
    aged.age_to(aged.first_time_s());
    CHECK(ask(fresh, inputs).equal(ask(aged, inputs)));
  }
}

TEST_CASE("queries see a state that is renewed as the clock runs") {
  const at::Tensor weights = at::ones({1, 1});
  auto block = programmed(
      config_with({{"cell", generic_cell({{"drift", {{"mean", 0.1}, {"t0_s", 1.0}}}})}, {"state_refresh_s", 0.5}}),
      weights);
  QueryBatch batch;
  batch.inputs = at::ones({1, 1});
  batch.slot.start_s = 0.4;
  CHECK(block.query(batch).values.item<double>() == Approx(1));
  batch.slot.start_s = 9;
  CHECK(block.query(batch).values.item<double>() == Approx(std::pow(10.0, -0.1)));
}

TEST_CASE("one row of cells behind a bit line is a divider (closed form)") {
  const double ohm = 2000;
  const at::Tensor weights = at::tensor({0.25F, 1.0F}).reshape({2, 1});
  auto block = programmed(config_with({{"lines", {{"bit_line_segment_ohm", ohm}}}}), weights);
  const at::Tensor y = ask(block, at::ones({1, 1}));
  // G = 25 and 100 uS; I = V G / (1 + G R), weight_per_us is 1 / 100.
  CHECK(y[0][0].item<double>() == Approx(0.25 / (1 + 25e-6 * ohm)));
  CHECK(y[0][1].item<double>() == Approx(1.0 / (1 + 100e-6 * ohm)));
}

TEST_CASE("an unsaturated ADC adds a twelfth of a squared step for each row of tiles (five standard errors)") {
  const std::int64_t width = 64, outputs = 50, queries = 400;
  const at::Tensor weights = normal_tensor(outputs, width, 1);
  const at::Tensor inputs = normal_tensor(queries, width, 2);
  for (const std::int64_t tile_rows : {64, 16}) {
    auto block = programmed(
        config_with({{"tile_rows", tile_rows},
                     {"dac", {{"bits", "ideal"}, {"range", "fixed"}, {"full_scale", 1}}},
                     {"adc", {{"bits", 10}, {"range", "fixed"}, {"full_scale", 2000}, {"dither", "subtractive"}}}}),
        weights);
    const at::Tensor error = ask(block, inputs) - at::mm(inputs, weights.t());
    const double step = 4000.0 / 1022 * weights.abs().max().item<double>() / 100;
    const double expected = step * step / 12 * static_cast<double>(width / tile_rows);
    CHECK(block.meter().saturated_outputs == 0);
    CHECK(variance_of(error) == Approx(expected).epsilon(5 * std::sqrt(2.0 / (queries * outputs))));
  }
}

TEST_CASE("saturation is clipped, counted for each converter, and can be switched off") {
  const at::Tensor weights = at::tensor({1.0F, 0.1F, 0.1F, 0.1F}).reshape({4, 1});
  const auto config = config_with({{"dac", {{"bits", "ideal"}, {"range", "fixed"}}},
                                   {"adc", {{"bits", 12}, {"range", "fixed"}, {"full_scale", 50}}},
                                   {"chip", {{"adc", {{"columns_per_adc", 2}}}}}});
  auto block = programmed(config, weights);
  const at::Tensor y = ask(block, at::ones({3, 1}));
  CHECK(y[0][0].item<double>() == Approx(0.5));
  CHECK(y[0][1].item<double>() == Approx(0.1).margin(0.5 / 2047));
  CHECK(block.meter().saturated_outputs == 3);
  CHECK(block.saturated_by_adc() == std::vector<std::vector<std::int64_t>>{{3, 0}});

  CrossbarEffects endless;
  endless.saturation = false;
  auto wide = programmed(config, weights, endless);
  const at::Tensor z = ask(wide, at::ones({3, 1}));
  CHECK(z[0][0].item<double>() == Approx(1).margin(0.5 / 2047));
  CHECK(z[0][1].item<double>() == Approx(y[0][1].item<double>()).epsilon(1e-5));
  CHECK(wide.meter().saturated_outputs == 0);
}

TEST_CASE("a calibrated ADC range is the calibration run's largest current, with headroom") {
  const at::Tensor weights = at::ones({1, 1});
  auto block = programmed(config_with({{"dac", {{"bits", "ideal"}, {"range", "calibrated"}}},
                                       {"adc", {{"bits", 8}, {"range", "calibrated"}, {"headroom", 1.5}}}}),
                          weights);
  block.calibrate(at::tensor({-2.0F, 1.0F}).reshape({2, 1}));
  const at::Tensor y = ask(block, at::tensor({100.0F, 2.9F}).reshape({2, 1}));
  CHECK(y[0].item<double>() == Approx(3));  // 2 * 1.5
  CHECK(y[1].item<double>() == Approx(2.9).margin(3.0 / 127));
  CHECK(block.meter().saturated_outputs == 1);
}

TEST_CASE("queries do not depend on threads, nor on how a batch is cut") {
  const at::Tensor weights = normal_tensor(40, 50, 1);
  const at::Tensor inputs = normal_tensor(33, 50, 2);
  const auto config = config_with({{"cell", {{"preset", "pcm_joshi_2020"}}}, {"tile_rows", 20}});
  const int before = at::get_num_threads();
  at::set_num_threads(1);
  auto one = programmed(config, weights);
  const at::Tensor whole = ask(one, inputs);
  at::set_num_threads(2);
  auto two = programmed(config, weights);
  CHECK(at::allclose(whole, ask(two, inputs), 1e-6, 1e-6));
  at::set_num_threads(before);
  auto parts = programmed(config, weights);
  for (std::int64_t first = 0; first < 33; first += 5) {
    const std::int64_t count = std::min<std::int64_t>(5, 33 - first);
    QueryBatch batch;
    batch.inputs = inputs.narrow(0, first, count);
    batch.slot.first_row = static_cast<std::uint32_t>(first);
    // The products' order of summation may differ with the batch: the noise may not.
    CHECK(at::allclose(parts.query(batch).values, whole.narrow(0, first, count), 1e-5, 1e-5));
  }
}

TEST_CASE("probing a crossbar estimates W^T g") {
  const at::Tensor weights = normal_tensor(5, 8, 1);
  auto block = programmed(config_with({}), weights);
  ProbeRequest request;
  request.point = normal_tensor(2, 8, 2);
  request.cotangent = normal_tensor(2, 5, 3);
  request.probes = 4000;
  const at::Tensor estimate = block.probe(request).estimate;
  const at::Tensor exact = at::mm(request.cotangent, weights);
  // NSR of n Rademacher probes is about (d - 1) / n.
  const double nsr = ((estimate - exact).pow(2).sum() / exact.pow(2).sum()).item<double>();
  CHECK(nsr < 5 * 7.0 / 4000);
}

TEST_CASE("writing and queries are booked") {
  const at::Tensor weights = normal_tensor(6, 10, 1);
  auto block =
      programmed(config_with({{"tile_rows", 4},
                              {"programming", {{"write_ns", 100}, {"energy_pj_per_write", 2}, {"parallel_writes", 7}}},
                              {"chip", {{"adc", {{"energy_pj", 3}}}, {"dac", {{"energy_pj", 0.5}}}}}}),
                 weights);
  // 120 devices, one write each: 18 turns of 7.
  CHECK(block.arrays().report().devices == 120);
  CHECK(block.arrays().report().writes == 120);
  CHECK(block.arrays().report().time_s == Approx(18 * 100e-9));
  CHECK(block.meter().energy.programming_j == Approx(240e-12));
  ask(block, normal_tensor(5, 10, 2));
  CHECK(block.meter().queries == 5);
  CHECK(block.meter().adc_conversions == 5 * 6 * 3);  // three rows of tiles
  CHECK(block.meter().energy.adc_j == Approx(5 * 6 * 3 * 3e-12));
  CHECK(block.meter().energy.dac_j == Approx(5 * 10 * 0.5e-12));
}

TEST_CASE("program-and-verify writes more often and errs less") {
  const at::Tensor weights = normal_tensor(20, 20, 1);
  const Json cell = generic_cell({{"programming", {{"sd_us", 2.0}}}});
  auto once = programmed(config_with({{"cell", cell}}), weights);
  auto verified = programmed(
      config_with({{"cell", cell}, {"write_verify", {{"max_iterations", 20}, {"acceptance_us", 0.5}}}}), weights);
  CHECK(verified.arrays().report().writes > once.arrays().report().writes);
  const auto error = [&](CrossbarLinear& block) { return variance_of(ask(block, at::eye(20)) - weights.t()); };
  CHECK(error(verified) < error(once) / 5);
}

TEST_CASE("weights that a device cannot hold are refused by position or count") {
  at::Tensor weights = normal_tensor(3, 4, 1);
  weights[1][2] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(programmed(config_with({}), weights), Contains("weight [1, 2] is not a number"));
  weights[1][2] = std::numeric_limits<float>::infinity();
  CHECK_THROWS_WITH(programmed(config_with({}), weights), Contains("weight [1, 2] is infinite"));
  weights[1][2] = 7;
  weights[0][0] = -4;
  const Json fixed = {{"scale", "fixed"}, {"weight_full_scale", 3.5}};
  CHECK_THROWS_WITH(programmed(config_with({{"mapping", fixed}}), weights),
                    Contains("2 weights are beyond") && Contains("3.5") && Contains("7"));
  Json clipped = fixed;
  clipped["clip"] = true;
  auto block = programmed(config_with({{"mapping", clipped}}), weights);
  CHECK(block.arrays().clipped_weights() == 2);
  CHECK(ask(block, at::eye(4))[2][1].item<double>() == Approx(3.5));
}

TEST_CASE("mistakes at the port are named") {
  CrossbarRequest request;
  request.inputs = 4;
  request.outputs = 3;
  CrossbarLinear fresh(config_with({}), request);
  CHECK_THROWS_WITH(ask(fresh, at::ones({1, 4})), Contains("before it was programmed"));
  CHECK_THROWS_WITH(fresh.program(at::ones({4, 3})), Contains("[4, 3]") && Contains("[3, 4]"));
  auto block = programmed(config_with({}), at::ones({3, 4}));
  CHECK_THROWS_WITH(ask(block, at::ones({2, 5})), Contains("[2, 5]") && Contains("4"));
  CHECK_THROWS_WITH(ask(block, at::ones({0, 4})), Contains("at least one row"));
  at::Tensor bad = at::ones({2, 4});
  bad[1][3] = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH(ask(block, bad), Contains("input 3 of query 1"));
  auto wan = programmed(config_with({{"cell", {{"preset", "rram_wan_2022_aihwkit"}}}}), at::ones({3, 4}));
  CHECK_THROWS_WITH(wan.age_to(1e9), Contains("outside the model's times"));
  request.inputs = 0;
  CHECK_THROWS_WITH(CrossbarLinear(config_with({}), request), Contains("at least one"));
  CHECK_THROWS_WITH(config_with({{"lines", {{"idle_rows", "disconnected"}}}}), Contains("lines.idle_rows"));
}

TEST_CASE("the predicted readout noise is what repeated reads show") {
  const at::Tensor weights = normal_tensor(30, 40, 1);
  const at::Tensor x = normal_tensor(1, 40, 2);
  auto block = programmed(config_with({{"cell", {{"preset", "pcm_joshi_2020"}}},
                                       {"tile_rows", 16},
                                       {"adc", {{"bits", 6}, {"range", "calibrated"}, {"dither", "subtractive"}}},
                                       {"output_noise_fraction", 0.01},
                                       {"input_noise_fraction", 0.01},
                                       {"comparator_noise_steps", 0.5},
                                       {"mapping", {{"slices", 2}, {"slice_base", 4}}}}),
                          weights);
  const double predicted = block.readout_noise(x, 0, 0).item<double>();
  const at::Tensor reads = ask(block, x.expand({2000, 40})).to(at::kDouble);
  const double seen = std::sqrt(reads.var(0, false).mean().item<double>());
  CHECK(seen == Approx(predicted).epsilon(5 * std::sqrt(0.5 / (2000 * 30.0))));
}

TEST_CASE("effects can be switched on a programmed crossbar as if it had been made so") {
  const at::Tensor weights = normal_tensor(6, 12, 1);
  const at::Tensor inputs = normal_tensor(4, 12, 2);
  const auto config = config_with({{"cell", {{"preset", "pcm_joshi_2020"}}},
                                   {"dac", {{"bits", 6}}},
                                   {"adc", {{"bits", 6}, {"range", "calibrated"}}},
                                   {"input_noise_fraction", 0.01},
                                   {"comparator_noise_steps", 0.5},
                                   {"column_mismatch", {{"gain_spread", 0.05}, {"offset_spread_fraction", 0.01}}},
                                   {"drift_compensation", true},
                                   {"lines", {{"word_line_segment_ohm", 20}, {"bit_line_segment_ohm", 20}}}});
  auto block = programmed(config, weights);
  for (const auto& [name, member] : crossbar_effects()) {
    // These belong to the chip as it is made.
    if (name == "programming" || name == "device_to_device" || name == "temperature") continue;
    INFO(name);
    CrossbarEffects effects;
    effects.*member = false;
    for (const double t_s : {0.0, 1e4}) {
      auto fresh = programmed(config, weights, effects);
      fresh.age_to(t_s);
      block.set_effects({});
      block.age_to(0);
      block.set_effects(effects);
      block.age_to(t_s);
      CHECK(ask(block, inputs).equal(ask(fresh, inputs)));
    }
  }
}

TEST_CASE("slices of weights and of inputs add up to the whole") {
  const at::Tensor weights = normal_tensor(7, 30, 1);
  const at::Tensor inputs = normal_tensor(9, 30, 2);
  const Json dac = {{"bits", 8}, {"grid", "mid_tread"}};
  auto whole = programmed(config_with({{"dac", dac}}), weights);
  const at::Tensor expected = ask(whole, inputs);
  for (const std::int64_t slices : {1, 2, 3}) {
    for (const std::int64_t base : {2, 8}) {
      for (const std::int64_t input_bits : {0, 1, 3, 7}) {
        INFO(slices << " slices of base " << base << ", " << input_bits << " input bits at a time");
        const Json mapping = {{"slices", slices}, {"slice_base", base}};
        auto block = programmed(
            config_with({{"dac", dac}, {"mapping", mapping}, {"input_slice_bits", input_bits}, {"tile_rows", 13}}),
            weights);
        CHECK(at::allclose(ask(block, inputs), expected, 1e-5, 1e-5));
        const std::int64_t input_slices = input_bits == 0 ? 1 : (7 + input_bits - 1) / input_bits;
        CHECK(block.meter().adc_conversions == 9 * 7 * 3 * slices * input_slices);
        CHECK(block.meter().dac_conversions == 9 * 30 * input_slices);
      }
    }
  }
  CrossbarEffects no_dac;
  no_dac.dac = false;
  auto exact = programmed(config_with({{"dac", dac}, {"input_slice_bits", 2}}), weights, no_dac);
  CHECK(at::allclose(ask(exact, inputs), at::mm(inputs, weights.t()), 1e-4, 1e-4));
}

TEST_CASE("a slice of low significance counts for less: its programming error is divided by the base") {
  // Weights below 1 / base lie in the second slice alone: the first holds digit 0 for all of them.
  const at::Tensor weights = at::full({100, 100}, 0.2);
  const auto config = [](std::int64_t slices) {
    return config_with(
        {{"cell", generic_cell({{"programming", {{"sd_of_value", 0.05}}}})},
         {"mapping", {{"scale", "fixed"}, {"weight_full_scale", 1}, {"slices", slices}, {"slice_base", 4}}}});
  };
  auto one = programmed(config(1), weights);
  auto two = programmed(config(2), weights);
  // 20 uS errs by 1 uS of 100; in slices 80 uS errs by 4 uS of 100, a fourth of which counts: the same.
  CHECK(variance_of(ask(one, at::eye(100))) == Approx(1e-4).epsilon(5 * std::sqrt(2.0 / 1e4)));
  CHECK(variance_of(ask(two, at::eye(100))) == Approx(1e-4).epsilon(5 * std::sqrt(2.0 / 1e4)));
  const Json absolute = generic_cell({{"g_min_us", 0}, {"programming", {{"sd_us", 2.0}}}});
  const Json mapping = {{"scale", "fixed"}, {"slices", 2}, {"slice_base", 4}};
  auto sliced = programmed(config_with({{"cell", absolute}, {"mapping", mapping}}), weights);
  // Four cells of which three are off: rectified noise of variance s^2 (1/2 - 1/(2 pi)), two of them at full weight.
  const double off = 4.0 * (0.5 - 0.5 / 3.14159265358979);
  CHECK(variance_of(ask(sliced, at::eye(100))) ==
        Approx((2 * off + (4.0 + off) / 16) * 1e-4).epsilon(5 * std::sqrt(2.5 / 1e4)));
}

TEST_CASE("input noise is fresh for each input and query and passes through the weights (five standard errors)") {
  const std::int64_t width = 30, outputs = 20, queries = 4000;
  const at::Tensor weights = normal_tensor(outputs, width, 1);
  const at::Tensor inputs = at::full({queries, width}, 0.5);
  const auto config = [](std::int64_t tile_rows) {
    return config_with({{"dac", {{"bits", "ideal"}, {"range", "fixed"}, {"full_scale", 2}}},
                        {"input_noise_fraction", 0.01},
                        {"tile_rows", tile_rows}});
  };
  auto block = programmed(config(64), weights);
  const at::Tensor error = (ask(block, inputs) - at::mm(inputs, weights.t())).to(at::kDouble);
  // Deviation .01 of a full scale of 2; outputs share their inputs' noise: the covariance is s^2 W W^T.
  const at::Tensor expected = at::mm(weights, weights.t()).to(at::kDouble) * std::pow(0.02, 2);
  const at::Tensor seen = at::mm(error.t(), error) / static_cast<double>(queries);
  const at::Tensor variance = expected.diagonal();
  const at::Tensor standard_error = ((at::outer(variance, variance) + expected.square()) / double(queries)).sqrt();
  CHECK(((seen - expected) / standard_error).abs().max().item<double>() < 5);
  CHECK((error.mean(0) / (variance / double(queries)).sqrt()).abs().max().item<double>() < 5);
  // The noise is on the word line, which tiles below each other do not share and tiles beside each other do.
  auto tiled = programmed(config(7), weights);
  CHECK(at::allclose(ask(tiled, inputs), error.to(at::kFloat) + at::mm(inputs, weights.t()), 1e-4, 1e-4));
}

TEST_CASE("reads are independent across outputs, queries, steps, blocks and seeds (five standard errors)") {
  // 70 outputs: several that share one draw, in whole and in broken groups of lanes.
  const std::int64_t outputs = 70, queries = 4000;
  const at::Tensor weights = at::full({outputs, 2}, 0.5);
  const auto config = config_with({{"cell", generic_cell({{"read_noise", {{"sd_us", 1.0}}}})}});
  const auto read = [&](std::uint64_t seed, std::uint32_t step, std::uint32_t block_number) {
    CrossbarRequest request;
    request.inputs = 2;
    request.outputs = outputs;
    request.seed = seed;
    CrossbarLinear block(config, request);
    block.program(weights);
    QueryBatch batch;
    batch.inputs = at::ones({queries, 2});
    batch.slot.step = step;
    batch.slot.block = block_number;
    const at::Tensor values = block.query(batch).values.to(at::kDouble);
    return (values - values.mean(0)) / values.std(0, false);
  };
  const at::Tensor z = read(1, 0, 0);
  const double n = queries;
  const at::Tensor between_outputs = at::mm(z.t(), z) / n - at::eye(outputs, at::kDouble);
  CHECK(between_outputs.abs().max().item<double>() < 5 / std::sqrt(n));
  for (const std::int64_t lag : {1, 2, 3, 16}) {
    const at::Tensor between_queries = at::mm(z.narrow(0, 0, queries - lag).t(), z.narrow(0, lag, queries - lag)) / n;
    INFO("lag " << lag);
    CHECK(between_queries.abs().max().item<double>() < 5 / std::sqrt(n));
  }
  for (const at::Tensor& other : {read(2, 0, 0), read(1, 1, 0), read(1, 0, 1)}) {
    CHECK((at::mm(z.t(), other) / n).abs().max().item<double>() < 5 / std::sqrt(n));
  }
  CHECK(read(1, 0, 0).equal(z));
}

TEST_CASE("comparator noise is in steps of the ADC, and needs one (five standard errors)") {
  const std::int64_t outputs = 40, queries = 1000;
  const at::Tensor weights = at::full({outputs, 1}, 0.3);
  const auto config = config_with({{"dac", {{"bits", "ideal"}, {"range", "fixed"}}},
                                   {"adc", {{"bits", 8}, {"range", "fixed"}, {"full_scale", 254}}},
                                   {"mapping", {{"scale", "fixed"}, {"weight_full_scale", 1}}},
                                   {"comparator_noise_steps", 3}});
  auto block = programmed(config, weights);
  // A step is 2 uS of 100: deviation .06, and a twelfth of a squared step.
  const at::Tensor read = ask(block, at::ones({queries, 1}));
  const double expected = 0.06 * 0.06 + 0.02 * 0.02 / 12, n = outputs * queries;
  CHECK(variance_of(read) == Approx(expected).epsilon(5 * std::sqrt(2 / n)));
  CHECK(mean_of(read) == Approx(0.3).margin(5 * std::sqrt(expected / n)));
  CHECK_THROWS_WITH(config_with({{"comparator_noise_steps", 3}}), Contains("comparator_noise_steps"));
}

TEST_CASE("columns differ in gain and offset for life (five standard errors)") {
  const std::int64_t outputs = 2000;
  const at::Tensor weights = at::full({outputs, 2}, 0.5);
  const auto block_with = [&](double gain, double offset) {
    return programmed(config_with({{"dac", {{"bits", "ideal"}, {"range", "fixed"}}},
                                   {"adc", {{"bits", "ideal"}, {"range", "fixed"}, {"full_scale", 200}}},
                                   {"mapping", {{"scale", "fixed"}, {"weight_full_scale", 1}}},
                                   {"column_mismatch", {{"gain_spread", gain}, {"offset_spread_fraction", offset}}}}),
                      weights);
  };
  auto gains = block_with(0.05, 0);
  const at::Tensor one = ask(gains, at::full({1, 2}, 1.0));
  CHECK(mean_of(one) == Approx(1).margin(5 * 0.05 / std::sqrt(2000)));
  CHECK(variance_of(one) == Approx(0.0025).epsilon(5 * std::sqrt(2 / 2000.0)));
  CHECK(at::allclose(ask(gains, at::full({1, 2}, -0.5)), -0.5 * one, 1e-5, 1e-6));
  auto offsets = block_with(0, 0.01);
  const at::Tensor none = ask(offsets, at::zeros({1, 2}));
  // .01 of 200 uS is .02 of a weight of 1 (100 uS).
  CHECK(mean_of(none) == Approx(0).margin(5 * 0.02 / std::sqrt(2000)));
  CHECK(variance_of(none) == Approx(0.0004).epsilon(5 * std::sqrt(2 / 2000.0)));
  CHECK(at::allclose(ask(offsets, at::full({1, 2}, 1.0)), 1 + none, 1e-5, 1e-5));
}

TEST_CASE("a dithered DAC errs by the stated variance and no bias (five standard errors)") {
  const at::Tensor weights = at::eye(50);
  for (const auto& [dither, steps_squared] :
       std::vector<std::pair<std::string, double>>{{"subtractive", 1 / 12.0}, {"triangular", 1 / 4.0}}) {
    auto block = programmed(config_with({{"dac", {{"bits", 4}, {"range", "fixed"}, {"dither", dither}}}}), weights);
    const at::Tensor error = ask(block, at::full({2000, 50}, 0.4)) - 0.4;
    const double expected = steps_squared / 49, n = 2000 * 50;  // 14 steps from -1 to 1
    INFO(dither);
    CHECK(mean_of(error) == Approx(0).margin(5 * std::sqrt(expected / n)));
    CHECK(variance_of(error) == Approx(expected).epsilon(5 * std::sqrt(2 / n)));
  }
}

TEST_CASE("an input at the top of its own range is not beyond it, on any grid") {
  const at::Tensor inputs = normal_tensor(200, 24, 2);
  for (const char* grid : {"mid_tread", "mid_rise", "end_point"}) {
    for (const int bits : {2, 8, 16}) {
      INFO(grid << ", " << bits << " bits");
      auto block = programmed(config_with({{"dac", {{"bits", bits}, {"grid", grid}}}}), at::ones({1, 24}));
      ask(block, inputs);
      ask(block, -inputs);
      CHECK(block.meter().saturated_inputs == 0);
    }
  }
  auto fixed =
      programmed(config_with({{"dac", {{"bits", 4}, {"grid", "mid_rise"}, {"range", "fixed"}}}}), at::ones({1, 1}));
  ask(fixed, at::tensor({1.0F, -1.0F, 1.01F, -1.01F}).reshape({4, 1}));
  CHECK(fixed.meter().saturated_inputs == 2);
  CHECK(fixed.saturated_inputs_by_row() == std::vector<std::int64_t>{0, 0, 1, 1});
}

TEST_CASE("stuck, varying and warm devices reach the product in the stated amounts (five standard errors)") {
  const at::Tensor weights = at::full({200, 100}, 0.5);
  const auto error_of = [&](const Json& cell) {
    auto block = programmed(
        config_with({{"cell", generic_cell(cell)}, {"mapping", {{"scale", "fixed"}, {"weight_full_scale", 1}}}}),
        weights);
    return ask(block, at::eye(100)).to(at::kDouble) - 0.5;
  };
  const double n = 200 * 100;
  // G+ of 50 uS falls to 0: -.5. G- is at 0 already.
  const at::Tensor off = error_of({{"device_to_device", {{"stuck_off_fraction", 0.1}}}});
  CHECK(mean_of((off < -0.4).to(at::kDouble)) == Approx(0.1).margin(5 * std::sqrt(0.09 / n)));
  CHECK(mean_of((off.abs() > 1e-6).to(at::kDouble)) == mean_of((off < -0.4).to(at::kDouble)));
  // Either cell at 100 uS: +.5 or -1, both: -.5.
  const at::Tensor on = error_of({{"device_to_device", {{"stuck_on_fraction", 0.1}}}});
  CHECK(mean_of((on > 0.4).to(at::kDouble)) == Approx(0.09).margin(5 * std::sqrt(0.09 * 0.91 / n)));
  CHECK(mean_of((on < -0.9).to(at::kDouble)) == Approx(0.09).margin(5 * std::sqrt(0.09 * 0.91 / n)));
  // A lognormal factor of mean 1 on G+.
  const at::Tensor spread = error_of({{"device_to_device", {{"spread", 0.1}}}});
  CHECK(mean_of(spread) == Approx(0).margin(5 * 0.05 / std::sqrt(n)));
  CHECK(variance_of(spread) == Approx(0.25 * std::expm1(0.01)).epsilon(5 * std::sqrt(2.2 / n)));
  const at::Tensor warm =
      error_of({{"temperature", {{"temperature_k", 350}, {"reference_k", 300}, {"coefficient_per_k", -0.002}}}});
  CHECK(at::allclose(warm, at::full_like(warm, -0.05), 1e-5, 1e-6));
}

TEST_CASE("a fast line solver reads what the exact one reads, and states its residual") {
  const at::Tensor weights = normal_tensor(9, 40, 1);
  const at::Tensor inputs = normal_tensor(5, 40, 2);
  const auto block_with = [&](const std::string& solver, double tolerance) {
    return programmed(config_with({{"cell", {{"preset", "pcm_joshi_2020"}}},
                                   {"tile_rows", 16},
                                   {"tile_columns", 4},
                                   {"drift_compensation", true},
                                   {"column_mismatch", {{"gain_spread", 0.05}}},
                                   {"adc", {{"bits", 8}, {"range", "calibrated"}}},
                                   {"lines",
                                    {{"word_line_segment_ohm", 20},
                                     {"bit_line_segment_ohm", 20},
                                     {"solver", solver},
                                     {"tolerance", tolerance}}}}),
                      weights);
  };
  auto exact = block_with("exact", 1e-9);
  auto fast = block_with("fast", 1e-11);
  auto loose = block_with("fast", 1e-3);
  CrossbarEffects without;
  without.adc = without.line_resistance = false;
  for (const double t_s : {0.0, 1e5}) {
    CrossbarEffects no_adc;
    no_adc.adc = false;
    for (CrossbarLinear* block : {&exact, &fast, &loose}) {
      block->set_effects(no_adc);
      block->age_to(t_s);
    }
    const at::Tensor wanted = ask(exact, inputs);
    CHECK(at::allclose(ask(fast, inputs), wanted, 1e-4, 1e-4));
    CHECK_FALSE(at::allclose(ask(loose, inputs), wanted, 1e-6, 1e-6));
    CHECK(at::allclose(ask(loose, inputs), wanted, 0.05, 0.05));
    fast.set_effects(without);
    exact.set_effects(without);
    const at::Tensor ideal_lines = ask(exact, inputs);
    CHECK(ask(fast, inputs).equal(ideal_lines));
    CHECK_FALSE(at::allclose(ideal_lines, wanted, 1e-3, 1e-3));
  }
  CHECK(exact.arrays().largest_residual() == 0);
  CHECK(fast.arrays().largest_residual() > 0);
  CHECK(fast.arrays().largest_residual() <= 1e-11);
  CHECK(loose.arrays().largest_residual() > 1e-9);
  CHECK(loose.arrays().largest_residual() <= 1e-3);
}

TEST_CASE("no memory grows with rows of the batch times inputs times outputs") {
  const std::int64_t rows = 2048, width = 512;
  auto block = programmed(config_with({{"cell", {{"preset", "pcm_joshi_2020"}}},
                                       {"tile_rows", 512},
                                       {"tile_columns", 512},
                                       {"dac", {{"bits", 8}}},
                                       {"adc", {{"bits", 8}, {"range", "calibrated"}}}}),
                          normal_tensor(width, width, 1));
  const at::Tensor inputs = normal_tensor(rows, width, 2);
  const auto peak_mb = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_maxrss) / 1024;
  };
  const double before_mb = peak_mb();
  ask(block, inputs);
  const double product_mb = 4.0 * rows * width * width / 1048576;  // 2048
  CHECK(peak_mb() - before_mb < product_mb / 20);
}
