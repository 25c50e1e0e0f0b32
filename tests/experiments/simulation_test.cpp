#include "experiments/simulation/simulation.hpp"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"

using namespace zbphw;

namespace {

at::Tensor normal_tensor(std::int64_t rows, std::int64_t width, std::uint32_t which) {
  std::vector<float> values(static_cast<std::size_t>(rows * width));
  const RandomAt at(9, stream_id("test tensor"), which);
  for (std::uint32_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(at.normal(i));
  return at::from_blob(values.data(), {rows, width}, at::kFloat).clone();
}

}  // namespace

TEST_CASE("error figures of a known error (worked by hand)") {
  const at::Tensor ideal = at::tensor({3.0, 4.0, 0.0, 0.0}).reshape({2, 2});
  const at::Tensor measured = at::tensor({3.5, 4.0, 0.0, 0.5}).reshape({2, 2});
  const ErrorFigures figures = error_figures(measured, ideal);
  CHECK(figures.nsr == Approx(0.5 / 25));
  CHECK(figures.snr_db == Approx(-10 * std::log10(0.02)));
  CHECK(figures.effective_bits == Approx((16.9897 - 1.76) / 6.02).epsilon(1e-4));
  CHECK(figures.bias == Approx(0.25 / 2.5));
  CHECK(figures.gain == Approx((3 * 3.5 + 16) / 25));
}

TEST_CASE("switching off a crossbar's only source of error takes the whole NSR away") {
  const at::Tensor weights = normal_tensor(12, 20, 1);
  SimulationPlan plan;
  plan.inputs = normal_tensor(40, 20, 2);
  const struct {
    const char* source;
    const char* changes;
  } cases[] = {{"programming", R"({"cell": {"preset": "generic_exact", "programming": {"sd_of_g_max": 0.02}}})"},
               {"read_noise", R"({"cell": {"preset": "generic_exact", "read_noise": {"sd_of_g_max": 0.02}}})"},
               {"dac", R"({"cell": {"preset": "generic_exact"}, "dac": {"bits": 5}})"},
               {"adc", R"({"cell": {"preset": "generic_exact"}, "adc": {"bits": 6}})"},
               {"line_resistance", R"({"cell": {"preset": "generic_exact"}, "lines": {"bit_line_segment_ohm": 20}})"}};
  for (const auto& c : cases) {
    INFO(c.source);
    Json crossbar = {{"dac", {{"bits", "ideal"}}}, {"adc", {{"bits", "ideal"}}}};
    crossbar.update(Json::parse(c.changes));
    const DeviceConfig device = read_device({{"name", "test"}, {"crossbar", crossbar}}, "test: $");
    const auto subject = crossbar_subject(device, weights, 1);
    const SimulationResult result = run_simulation(*subject, plan, {});
    CHECK(result.error.nsr > 1e-6);
    for (const auto& [name, nsr] : result.error_by_source) {
      INFO(name);
      CHECK(nsr == Approx(name == c.source ? result.error.nsr : 0).margin(1e-3 * result.error.nsr));
    }
  }
}

TEST_CASE("reading again after a source was off gives the first answer, bit for bit") {
  const DeviceConfig device = load_device("pcm_crossbar");
  const auto subject = crossbar_subject(device, normal_tensor(12, 20, 1), 1);
  const at::Tensor inputs = normal_tensor(10, 20, 2);
  const at::Tensor first = subject->read(inputs, "", 0).values;
  for (const std::string& source : subject->error_sources()) {
    subject->read(inputs, source, 100);
    CHECK(subject->read(inputs, "", 0).values.equal(first));
  }
}

TEST_CASE("an activation block's only source of error takes its whole NSR away") {
  SimulationPlan plan;
  plan.inputs = normal_tensor(40, 16, 2);
  const DeviceConfig device = read_device(
      Json::parse(R"({"name": "test", "blocks": {"softmax": {"dac": {"bits": "ideal"}, "adc": {"bits": "ideal"},
                      "read_noise_fraction": 0.01}}})"),
      "test: $");
  const auto subject = block_subject(device, "softmax", 16, 1);
  const SimulationResult result = run_simulation(*subject, plan, {});
  CHECK(result.error.nsr > 1e-6);
  for (const auto& [name, nsr] : result.error_by_source) {
    CHECK(nsr == Approx(name == "read_noise" ? result.error.nsr : 0).margin(1e-3 * result.error.nsr));
  }
}
