// Vector-Jacobian products from queries against the digital twin, and their noise against the law.
#include "training/estimators/vjp_estimator.hpp"

#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <utility>
#include <vector>

#include "base/random.hpp"
#include "hw/block_registry.hpp"
#include "training/estimators/digital_twin.hpp"
#include "training/estimators/nsr_audit.hpp"

using namespace zbphw;

namespace {

at::Tensor normals(std::int64_t rows, std::int64_t width, std::uint32_t which) {
  at::Tensor values = at::empty({rows, width}, at::kDouble);
  const RandomAt at(17, stream_id("estimator test"), which);
  for (std::int64_t i = 0; i < rows * width; ++i)
    values.data_ptr<double>()[i] = at.normal(static_cast<std::uint32_t>(i));
  return values;
}

std::unique_ptr<PhysicalBlock> block(const char* name, std::int64_t width, std::int64_t period, Fidelity fidelity,
                                     const Json& config = Json::object()) {
  BlockRequest request;
  request.output_width = width;
  request.causal_period = period;
  request.fidelity = fidelity;
  return make_block(name, {config, "test: $"}, request);
}

std::unique_ptr<VjpEstimator> estimator(const char* name, std::int64_t probes, double amplitude) {
  EstimatorConfig config;
  config.name = name;
  config.probes = probes;
  config.amplitude = amplitude;
  return make_estimator(config, "test: $");
}

VjpRequest request_for(const PhysicalBlock& target, std::int64_t rows, at::ScalarType type) {
  VjpRequest request;
  request.point = normals(rows, target.spec().input_width, 1).to(type);
  request.cotangent = normals(rows, target.spec().output_width, 2).to(type);
  request.slot.step = 3;
  return request;
}

// For each row ||estimate - v||^2 / ||v||^2; their mean and its standard error.
struct Ratio {
  double mean;
  double error;
};
Ratio row_ratio(const at::Tensor& estimate, const at::Tensor& exact) {
  const at::Tensor ratio = (estimate.to(at::kDouble) - exact).square().sum(1) / exact.square().sum(1);
  return {ratio.mean().item<double>(), ratio.std().item<double>() / std::sqrt(static_cast<double>(ratio.size(0)))};
}

double relative_error(const at::Tensor& a, const at::Tensor& b) { return ((a - b).norm() / b.norm()).item<double>(); }

}  // namespace

TEST_CASE("the digital twins equal finite differences of the transfer functions") {
  for (const char* name : {"softmax", "swiglu"}) {
    const auto target = block(name, 9, name == std::string("softmax") ? 9 : 0, Fidelity::ideal);
    const VjpRequest request = request_for(*target, 18, at::kDouble);
    const at::Tensor twin = twin_vjp(target->spec(), request.slot, request.point, request.cotangent);
    const double h = 1e-5;
    for (std::int64_t j = 0; j < target->spec().input_width; ++j) {
      const auto loss_at = [&](double shift) {
        QueryBatch batch;
        batch.inputs = request.point.clone();
        batch.inputs.select(1, j).add_(shift);
        return (target->query(batch).values * request.cotangent).sum(1);
      };
      const at::Tensor slope = (loss_at(h) - loss_at(-h)) / (2 * h);
      CHECK((slope - twin.select(1, j)).abs().max().item<double>() < 1e-8);
    }
  }
}

TEST_CASE("Rademacher probes have NSR (d - 1) / n on an ideal block (five standard errors of 4000 rows)") {
  for (const std::int64_t d : {16, 64}) {
    for (const std::int64_t n : {4, 16}) {
      const auto target = block("softmax", d, 0, Fidelity::ideal);
      VjpRequest request = request_for(*target, 4000, at::kFloat);
      const at::Tensor exact =
          twin_vjp(target->spec(), request.slot, request.point.to(at::kDouble), request.cotangent.to(at::kDouble));
      // A small amplitude: curvature would add to the law's probe term.
      const at::Tensor estimate = estimator("rademacher", n, 0.05)->estimate(*target, request);
      const Ratio nsr = row_ratio(estimate, exact);
      INFO("d " << d << " n " << n << " measured " << nsr.mean << " +- " << nsr.error);
      CHECK(std::abs(nsr.mean - double(d - 1) / double(n)) < 5 * nsr.error);
    }
  }
}

TEST_CASE("an estimate of Rademacher probes is unbiased (five standard errors)") {
  const auto target = block("softmax", 8, 0, Fidelity::ideal);
  VjpRequest request = request_for(*target, 1, at::kFloat);
  request.point = request.point.expand({20000, 8}).contiguous();
  request.cotangent = request.cotangent.expand({20000, 8}).contiguous();
  const at::Tensor exact =
      twin_vjp(target->spec(), request.slot, request.point.to(at::kDouble), request.cotangent.to(at::kDouble))[0];
  const at::Tensor estimate = estimator("rademacher", 2, 0.01)->estimate(*target, request).to(at::kDouble);
  const at::Tensor error = estimate.std(0) / std::sqrt(20000.0);
  CHECK(((estimate.mean(0) - exact).abs() / error).max().item<double>() < 5);
}

TEST_CASE("probes that use up all directions are exact at n = d, on causal rows too") {
  for (const char* name : {"orthogonal", "coordinate"}) {
    for (const std::int64_t period : {0, 12}) {
      INFO(name << " period " << period);
      const auto target = block("softmax", 12, period, Fidelity::ideal);
      const VjpRequest request = request_for(*target, 24, at::kDouble);
      const at::Tensor exact = twin_vjp(target->spec(), request.slot, request.point, request.cotangent);
      CHECK(relative_error(estimator(name, 12, 1e-3)->estimate(*target, request), exact) < 1e-5);
    }
  }
}

TEST_CASE("every kind of probe has its own NSR (five standard errors of 4000 rows)") {
  // (d + 1) / n, (d - 1) / n, and d / n - 1 without replacement.
  const std::vector<std::pair<const char*, double>> laws = {
      {"gaussian", 17.0 / 4}, {"sphere", 15.0 / 4}, {"orthogonal", 16.0 / 4 - 1}, {"coordinate", 16.0 / 4 - 1}};
  for (const auto& [name, law] : laws) {
    const auto target = block("softmax", 16, 0, Fidelity::ideal);
    const VjpRequest request = request_for(*target, 4000, at::kDouble);
    const at::Tensor exact = twin_vjp(target->spec(), request.slot, request.point, request.cotangent);
    const auto probes = estimator(name, 4, 1e-3);
    const Ratio nsr = row_ratio(probes->estimate(*target, request), exact);
    INFO(name << " measured " << nsr.mean << " +- " << nsr.error);
    CHECK(std::abs(nsr.mean - law) < 5 * nsr.error);
    CHECK(probes->queries_per_row(target->spec()) == 8);
    const at::Tensor none = at::zeros({4000}, at::kDouble);
    const at::Tensor predicted =
        probes->expected_error(target->spec(), request, exact, none, at::ones({4000}, at::kDouble));
    CHECK((predicted.sum() / exact.square().sum()).item<double>() == Approx(law));
  }
}

TEST_CASE("every kind of probe keeps the readout term of the law, within six percent of 4000 rows") {
  // A gate, whose outputs have a fixed range: the readout noise is the same for every probe.
  const Json device = {
      {"dac", {{"bits", "ideal"}}}, {"adc", {{"bits", "ideal"}, {"range", "fixed"}}}, {"read_noise_fraction", 0.05}};
  for (const char* name : {"gaussian", "sphere", "orthogonal", "coordinate"}) {
    const auto target = block("swiglu", 8, 0, Fidelity::noisy, device);
    const VjpRequest request = request_for(*target, 4000, at::kFloat);
    const auto probes = estimator(name, 8, 0.03);
    NsrAudit audit;
    audit.add(*target, *probes, request, probes->estimate(*target, request));
    INFO(name << " measured " << audit.measured() << " predicted " << audit.predicted());
    CHECK(audit.predicted() > 4);  // the noise is what this test is about
    CHECK(audit.measured() == Approx(audit.predicted()).epsilon(0.06));
  }
}

TEST_CASE("the gate's wiring gives its exact product with four queries") {
  const auto target = block("swiglu", 10, 0, Fidelity::ideal);
  const VjpRequest request = request_for(*target, 20, at::kDouble);
  const at::Tensor exact = twin_vjp(target->spec(), request.slot, request.point, request.cotangent);
  CHECK(relative_error(estimator("wired", 1, 1e-3)->estimate(*target, request), exact) < 1e-6);
  CHECK(target->meter().queries == 4 * 20);
}

TEST_CASE("the readout term of the law holds on a noisy device, within five percent of 4000 rows") {
  const Json device = {
      {"dac", {{"bits", "ideal"}}}, {"adc", {{"bits", "ideal"}, {"range", "fixed"}}}, {"read_noise_fraction", 0.015}};
  const auto target = block("softmax", 16, 0, Fidelity::noisy, device);
  const VjpRequest request = request_for(*target, 4000, at::kFloat);
  // A small amplitude, so that curvature (order rho^2, not in the prediction) stays below a percent.
  const auto probes = estimator("rademacher", 8, 0.1);
  NsrAudit audit;
  audit.add(*target, *probes, request, probes->estimate(*target, request));
  const double without_readout = 15.0 / 8;
  INFO("measured " << audit.measured() << " predicted " << audit.predicted());
  CHECK(audit.predicted() > 2 * without_readout);  // the noise is what this test is about
  CHECK(audit.measured() == Approx(audit.predicted()).epsilon(0.05));
}

TEST_CASE("mirrored sides cost twice the queries and halve the readout term, within five percent of 4000 rows") {
  const Json device = {
      {"dac", {{"bits", "ideal"}}}, {"adc", {{"bits", "ideal"}, {"range", "fixed"}}}, {"read_noise_fraction", 0.03}};
  const auto target = block("softmax", 16, 0, Fidelity::noisy, device);
  const VjpRequest request = request_for(*target, 4000, at::kFloat);
  EstimatorConfig config{"rademacher", 8, 0.1, SideOrder::mirrored};
  const auto mirrored = make_estimator(config, "test");
  NsrAudit audit;
  audit.add(*target, *mirrored, request, mirrored->estimate(*target, request));
  CHECK(target->meter().queries == 4000 * 4 * 8);
  NsrAudit plain;
  const auto once = estimator("rademacher", 8, 0.1);
  plain.add(*target, *once, request, once->estimate(*target, request));
  INFO("measured " << audit.measured() << " predicted " << audit.predicted());
  CHECK(audit.measured() == Approx(audit.predicted()).epsilon(0.05));
  const double probe_term = 15.0 / 8;
  CHECK(audit.predicted() - probe_term == Approx((plain.predicted() - probe_term) / 2));
}

TEST_CASE("an eight-bit dithered gate keeps to its law, within five percent of 4000 rows") {
  const Json device = {{"adc", {{"bits", 8}, {"grid", "end_point"}, {"dither", "subtractive"}, {"headroom", 1.25}}},
                       {"read_noise_fraction", 0.01}};
  const auto target = block("swiglu", 32, 0, Fidelity::noisy, device);
  const VjpRequest request = request_for(*target, 4000, at::kFloat);
  const auto wired = estimator("wired", 1, 0.1);
  NsrAudit audit;
  audit.add(*target, *wired, request, wired->estimate(*target, request));
  INFO("measured " << audit.measured() << " predicted " << audit.predicted());
  CHECK(audit.measured() == Approx(audit.predicted()).epsilon(0.05));
}

TEST_CASE("an audit's sums survive a checkpoint") {
  const auto target = block("softmax", 8, 0, Fidelity::ideal);
  const VjpRequest request = request_for(*target, 5, at::kFloat);
  const auto probes = estimator("rademacher", 2, 0.5);
  NsrAudit audit;
  audit.add(*target, *probes, request, probes->estimate(*target, request));
  NsrAudit again;
  again.restore(audit.state());
  CHECK(again.result() == audit.result());
}

TEST_CASE("estimators that do not exist or do not fit are refused") {
  CHECK_THROWS_WITH(estimator("rademacker", 4, 1), Catch::Contains("did you mean 'rademacher'?"));
  const auto target = block("softmax", 8, 0, Fidelity::ideal);
  CHECK_THROWS_WITH(estimator("wired", 4, 1)->queries_per_row(target->spec()), Catch::Contains("is not elementwise"));
}
