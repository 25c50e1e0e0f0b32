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
        const ProbeRequest request = some_request(2 * width, width, probes);
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

TEST_CASE("another seed, step or layer gives other noise") {
  ProbeRequest request = some_request(8, 16, 4);
  const at::Tensor base = softmax_block(16, 0, Fidelity::noisy)->probe(request).estimate;
  request.slot.step += 1;
  CHECK_FALSE(base.equal(softmax_block(16, 0, Fidelity::noisy)->probe(request).estimate));
  request.slot.step -= 1;
  request.slot.block += 1;
  CHECK_FALSE(base.equal(softmax_block(16, 0, Fidelity::noisy)->probe(request).estimate));
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
