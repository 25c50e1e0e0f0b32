// The fused probe path equals the explicit one, and queries do not depend on how a batch is cut or on threads.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <catch2/catch.hpp>
#include <vector>

#include "base/random.hpp"
#include "hw/block_registry.hpp"

using namespace zbphw;

namespace {

at::Tensor normal_tensor(std::int64_t rows, std::int64_t width, std::uint32_t which) {
  std::vector<float> values(static_cast<std::size_t>(rows * width));
  const RandomAt at(9, stream_id("test tensor"), which);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(at.normal(i));
  return at::from_blob(values.data(), {rows, width}, at::kFloat).clone();
}

Json noisy_config(const std::string& dither) {
  return {{"dac", {{"bits", 8}}},
          {"adc", {{"bits", 8}, {"grid", "end_point"}, {"low_fraction", -0.02}, {"headroom", 1.3}, {"dither", dither}}},
          {"read_noise_fraction", 0.002},
          {"drift", {{"gain_exponent", 0.05}, {"offset_ramp_fraction_per_s", 1000.0}, {"calibration_period_s", 0.001}}},
          {"chip", {{"parallel_rows", 3}}}};
}

std::unique_ptr<PhysicalBlock> softmax_block(std::int64_t width, std::int64_t period, Fidelity fidelity,
                                             const std::string& dither = "subtractive") {
  BlockRequest request;
  request.output_width = width;
  request.causal_period = period;
  request.fidelity = fidelity;
  return make_block("softmax", {noisy_config(dither), "test: $"}, request);
}

ProbeRequest some_request(std::int64_t rows, std::int64_t width, std::int64_t probes) {
  ProbeRequest request;
  request.point = normal_tensor(rows, width, 1);
  request.cotangent = normal_tensor(rows, width, 2);
  request.probes = probes;
  request.slot.step = 4;
  request.slot.block = 2;
  return request;
}

}  // namespace

TEST_CASE("the fused softmax probe equals the explicit path on a noisy device") {
  for (const std::string dither : {"none", "subtractive", "triangular"}) {
    for (const std::int64_t width : {1, 5, 16, 33, 64}) {
      for (const std::int64_t probes : {1, 3, 17}) {
        INFO("dither " << dither << " width " << width << " probes " << probes);
        ProbeRequest request = some_request(2 * width, width, probes);
        if (probes == 3) request.order = SideOrder::mirrored;
        const auto fused = softmax_block(width, width, Fidelity::noisy, dither);
        const auto explicit_path = softmax_block(width, width, Fidelity::noisy, dither);
        const ProbeReadout a = fused->probe(request);
        const ProbeReadout b = probe_by_queries(*explicit_path, request);
        CHECK(at::allclose(a.responses, b.responses, 1e-5, 1e-6));
        CHECK(at::allclose(a.estimate, b.estimate, 1e-5, 1e-6));
        CHECK(fused->meter().queries == explicit_path->meter().queries);
        CHECK(fused->meter().saturated_outputs == explicit_path->meter().saturated_outputs);
        CHECK(fused->meter().saturated_inputs == explicit_path->meter().saturated_inputs);
        CHECK(fused->meter().energy.total_j() == Approx(explicit_path->meter().energy.total_j()));
        CHECK(fused->clock_s() == Approx(explicit_path->clock_s()));
      }
    }
  }
}

TEST_CASE("the fused softmax probe equals the explicit path on an ideal device") {
  for (const std::int64_t width : {1, 5, 64, 100}) {
    for (const std::int64_t period : {std::int64_t{0}, width}) {
      const ProbeRequest request = some_request(width, width, 16);
      const ProbeReadout a = softmax_block(width, period, Fidelity::ideal)->probe(request);
      const ProbeReadout b = probe_by_queries(*softmax_block(width, period, Fidelity::ideal), request);
      CHECK(at::allclose(a.responses, b.responses, 1e-4, 2e-6));
      CHECK(at::allclose(a.estimate, b.estimate, 1e-4, 2e-6));
    }
  }
}

TEST_CASE("a probe's result does not depend on how the rows are cut") {
  const std::int64_t width = 24, rows = 4 * width;
  const ProbeRequest whole = some_request(rows, width, 5);
  const ProbeReadout together = softmax_block(width, width, Fidelity::noisy)->probe(whole);
  const auto block = softmax_block(width, width, Fidelity::noisy);
  std::vector<at::Tensor> estimates;
  for (std::int64_t first = 0; first < rows; first += 7) {
    ProbeRequest part = whole;
    const std::int64_t count = std::min<std::int64_t>(7, rows - first);
    part.point = whole.point.narrow(0, first, count);
    part.cotangent = whole.cotangent.narrow(0, first, count);
    part.slot.first_row = static_cast<std::uint32_t>(first);
    part.slot.start_s = 0;
    estimates.push_back(block->probe(part).estimate);
  }
  CHECK(together.estimate.equal(at::cat(estimates)));
}

TEST_CASE("a probe's result does not depend on the number of threads") {
  const int before = at::get_num_threads();
  const ProbeRequest request = some_request(200, 40, 8);
  at::set_num_threads(1);
  const ProbeReadout one = softmax_block(40, 40, Fidelity::noisy)->probe(request);
  at::set_num_threads(2);
  const ProbeReadout two = softmax_block(40, 40, Fidelity::noisy)->probe(request);
  at::set_num_threads(before);
  CHECK(one.estimate.equal(two.estimate));
}

TEST_CASE("another seed, step, layer or place gives other noise to the same query") {
  const auto read = [](std::uint64_t seed, std::uint32_t step, std::uint32_t layer, std::uint32_t first_row) {
    BlockRequest request;
    request.output_width = 16;
    request.seed = seed;
    QueryBatch batch;
    batch.inputs = normal_tensor(8, 16, 1);
    batch.slot.step = step;
    batch.slot.block = layer;
    batch.slot.first_row = first_row;
    const Json quiet_drift = {
        {"read_noise_fraction", 0.01}, {"dac", {{"bits", "ideal"}}}, {"adc", {{"bits", "ideal"}}}};
    return make_block("softmax", {quiet_drift, "test: $"}, request)->query(batch).values;
  };
  const at::Tensor base = read(1, 4, 2, 0);
  CHECK(base.equal(read(1, 4, 2, 0)));
  CHECK_FALSE(base.equal(read(2, 4, 2, 0)));
  CHECK_FALSE(base.equal(read(1, 5, 2, 0)));
  CHECK_FALSE(base.equal(read(1, 4, 3, 0)));
  CHECK_FALSE(base.equal(read(1, 4, 2, 8)));
}

TEST_CASE("gain drift alone reaches forward queries and both probe paths alike") {
  for (const Json& dac_bits : {Json("ideal"), Json(8)}) {
    const Json device = {{"dac", {{"bits", dac_bits}}},
                         {"adc", {{"bits", "ideal"}}},
                         {"drift", {{"gain_exponent", 0.5}, {"gain_t0_s", 1.0}, {"calibration_period_s", 100.0}}}};
    BlockRequest request;
    request.output_width = 12;
    const auto fused = make_block("softmax", {device, "test: $"}, request);
    const auto by_queries = make_block("softmax", {device, "test: $"}, request);
    ProbeRequest probe = some_request(6, 12, 5);
    probe.slot.start_s = 3;  // gain (1 + 3)^-0.5 = 1/2
    CHECK(at::allclose(fused->probe(probe).responses, probe_by_queries(*by_queries, probe).responses, 1e-4, 1e-6));
    QueryBatch batch;
    batch.inputs = probe.point;
    batch.slot.start_s = 3;
    CHECK(at::allclose(fused->query(batch).values.sum(1), at::full({6}, 0.5), 1e-5, 1e-6));
  }
}

TEST_CASE("an input that the DAC clips keeps its estimate unbiased, on both paths") {
  // A fixed range of +-4: the first score, 3.75, moves by .75 of the probe. Five standard errors of 40000 rows.
  const Json device = {{"dac", {{"bits", 8}, {"range", "fixed"}, {"full_scale", 4.0}}}, {"adc", {{"bits", "ideal"}}}};
  BlockRequest request;
  request.output_width = 4;
  const at::Tensor row = at::tensor({3.75F, 3.0F, 2.0F, 3.5F});
  ProbeRequest probe;
  probe.point = row.expand({40000, 4}).contiguous();
  probe.cotangent = at::tensor({1.0F, -0.5F, 0.25F, 0.0F}).expand({40000, 4}).contiguous();
  probe.probes = 1;
  probe.amplitude = 0.5;
  const at::Tensor estimate =
      make_block("softmax", {device, "test: $"}, request)->probe(probe).estimate.to(at::kDouble);
  const at::Tensor p = row.to(at::kDouble).softmax(0);
  const at::Tensor g = probe.cotangent[0].to(at::kDouble);
  const double exact = (p[0] * (g[0] - (p * g).sum())).item<double>();
  const double mean = estimate.select(1, 0).mean().item<double>();
  CHECK(mean == Approx(exact).epsilon(0.1));  // curvature; scaled by the applied magnitude twice it would be .56 of it
  ProbeRequest few = probe;
  few.point = probe.point.narrow(0, 0, 50);
  few.cotangent = probe.cotangent.narrow(0, 0, 50);
  CHECK(at::allclose(make_block("softmax", {device, "test: $"}, request)->probe(few).estimate,
                     probe_by_queries(*make_block("softmax", {device, "test: $"}, request), few).estimate, 1e-4, 1e-6));
}

TEST_CASE("scores far beyond a fixed range stay numbers") {
  for (const double low : {-1.0, 0.0}) {
    const Json device = {
        {"dac", {{"grid", "end_point"}, {"range", "fixed"}, {"full_scale", 8.0}, {"low_fraction", low}}}};
    BlockRequest request;
    request.output_width = 4;
    QueryBatch batch;
    batch.inputs = at::tensor({112.0F, -200.0F, -150.0F, 100.0F}).view({1, 4});
    CHECK(make_block("softmax", {device, "test: $"}, request)->query(batch).values.isfinite().all().item<bool>());
    batch.inputs = at::full({1, 4}, -120.0F);
    CHECK(make_block("softmax", {device, "test: $"}, request)->query(batch).values.isfinite().all().item<bool>());
  }
}

TEST_CASE("requests whose tensors do not match are refused") {
  ProbeRequest request = some_request(4, 16, 2);
  request.cotangent = request.cotangent.narrow(0, 0, 1);
  CHECK_THROWS_WITH(softmax_block(16, 0, Fidelity::noisy)->probe(request),
                    Catch::Contains("the cotangent has 1 rows for 4"));
}

TEST_CASE("an ideal simulation books the time and energy of the same chip as a noisy one") {
  const ProbeRequest request = some_request(32, 16, 4);
  const auto ideal = softmax_block(16, 16, Fidelity::ideal);
  const auto noisy = softmax_block(16, 16, Fidelity::noisy);
  ideal->probe(request);
  noisy->probe(request);
  CHECK(ideal->meter().queries == noisy->meter().queries);
  CHECK(ideal->meter().energy.total_j() == noisy->meter().energy.total_j());
  CHECK(ideal->clock_s() == noisy->clock_s());
}

TEST_CASE("an activation block refuses a range source that it does not have") {
  BlockRequest request;
  request.output_width = 4;
  const Json config = {{"adc", {{"range", "calibrated"}}}};
  CHECK_THROWS_WITH(make_block("softmax", {config, "d.json: $.blocks.softmax"}, request),
                    Catch::Contains("$.blocks.softmax.adc.range: an activation block has no calibration run"));
}

TEST_CASE("an activation block refuses a dithered DAC, which it would not dither") {
  BlockRequest request;
  request.output_width = 4;
  const Json config = {{"dac", {{"bits", 8}, {"dither", "subtractive"}}}};
  CHECK_THROWS_WITH(make_block("swiglu", {config, "d.json: $.blocks.swiglu"}, request),
                    Catch::Contains("$.blocks.swiglu.dac.dither: an activation block drives its inputs without"));
}
