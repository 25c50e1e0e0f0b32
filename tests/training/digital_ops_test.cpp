#include "training/digital_ops.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <vector>

#include "training/nonlinear_cores.hpp"

namespace {

at::Tensor row(const std::vector<double>& values) { return at::tensor(values, at::kDouble); }

// Values without pattern, for shapes small enough to check by hand.
at::Tensor values(at::IntArrayRef shape, double phase) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  return ((at::arange(count, at::kDouble) * 1.7 + phase).sin() * 1.5).view(shape);
}

// Compares the gradient of sum(weights * f(x)) with central differences; returns the largest absolute difference.
template <class Function>
double gradient_error(const Function& f, const at::Tensor& at_point) {
  at::Tensor x = at_point.clone().requires_grad_();
  const at::Tensor weights = values(f(x).sizes(), 0.3);
  (f(x) * weights).sum().backward();
  const at::Tensor gradient = x.grad().reshape({-1});
  double worst = 0;
  const double step = 1e-6;
  for (std::int64_t i = 0; i < x.numel(); ++i) {
    at::Tensor up = at_point.clone(), down = at_point.clone();
    up.view({-1})[i] += step;
    down.view({-1})[i] -= step;
    const double slope = ((f(up) - f(down)) * weights).sum().template item<double>() / (2 * step);
    worst = std::max(worst, std::abs(slope - gradient[i].template item<double>()));
  }
  return worst;
}

}  // namespace

TEST_CASE("rms norm gives rows of unit root mean square times the gain") {
  const at::Tensor x = row({3.0, 4.0}).view({1, 2});
  const at::Tensor y = zbphw::rms_norm(x, row({1.0, 2.0}), 0);
  // RMS of (3, 4) is sqrt(12.5).
  CHECK(y[0][0].item<double>() == Approx(3 / std::sqrt(12.5)));
  CHECK(y[0][1].item<double>() == Approx(8 / std::sqrt(12.5)));
  CHECK(zbphw::rms_norm(at::zeros({1, 2}, at::kDouble), row({1.0, 2.0}), 1e-6).abs().max().item<double>() == 0);
}

TEST_CASE("rms norm's gradients equal finite differences") {
  const at::Tensor x = values({3, 2, 6}, 0.1);
  const at::Tensor gain = values({6}, 2.0);
  CHECK(gradient_error([&](const at::Tensor& v) { return zbphw::rms_norm(v, gain, 1e-3); }, x) < 1e-8);
  CHECK(gradient_error([&](const at::Tensor& v) { return zbphw::rms_norm(x, v, 1e-3); }, gain) < 1e-8);
}

TEST_CASE("rotation by hand: a pair of half-width distance turns by t theta^(-2 i / width)") {
  const zbphw::RotaryTable table = zbphw::rotary_table(4, 4, 100, at::kDouble);
  // Two heads of width four; the second is ten times the first.
  const at::Tensor head = row({1.0, 2.0, 3.0, 4.0});
  const at::Tensor x = at::cat({head, head * 10}).view({1, 1, 8}).expand({1, 4, 8});
  const at::Tensor y = zbphw::rotate(x, 2, table);
  const int place = 3;
  const double fast = place, slow = place / 10.0;  // 100^(-2/4) = 1/10
  CHECK(y[0][place][0].item<double>() == Approx(1 * std::cos(fast) - 3 * std::sin(fast)));
  CHECK(y[0][place][2].item<double>() == Approx(3 * std::cos(fast) + 1 * std::sin(fast)));
  CHECK(y[0][place][1].item<double>() == Approx(2 * std::cos(slow) - 4 * std::sin(slow)));
  CHECK(y[0][place][7].item<double>() == Approx(40 * std::cos(slow) + 20 * std::sin(slow)));
}

TEST_CASE("rotation's gradient equals finite differences, and sequences may be shorter than the table") {
  const zbphw::RotaryTable table = zbphw::rotary_table(8, 4, 100, at::kDouble);
  CHECK(gradient_error([&](const at::Tensor& v) { return zbphw::rotate(v, 2, table); }, values({2, 5, 8}, 0)) < 1e-8);
}

TEST_CASE("attention's products by hand, and their gradients") {
  const at::Tensor q = values({2, 3, 4}, 0.1), k = values({2, 3, 4}, 0.9), v = values({2, 3, 4}, 1.7);
  const at::Tensor weights = values({2, 2, 3, 3}, 0.5);
  // Batch 1, head 1: components 2 and 3.
  const double dot = (q[1][2][2] * k[1][0][2] + q[1][2][3] * k[1][0][3]).item<double>();
  CHECK(zbphw::head_scores(q, k, 2, 0.5)[1][1][2][0].item<double>() == Approx(dot / 2));
  double mixture = 0;
  for (int j = 0; j < 3; ++j) mixture += (weights[1][1][2][j] * v[1][j][3]).item<double>();
  CHECK(zbphw::head_mixtures(weights, v)[1][2][3].item<double>() == Approx(mixture));

  CHECK(gradient_error([&](const at::Tensor& x) { return zbphw::head_scores(x, k, 2, 0.5); }, q) < 1e-8);
  CHECK(gradient_error([&](const at::Tensor& x) { return zbphw::head_scores(q, x, 2, 0.5); }, k) < 1e-8);
  CHECK(gradient_error([&](const at::Tensor& x) { return zbphw::head_mixtures(x, v); }, weights) < 1e-8);
  CHECK(gradient_error([&](const at::Tensor& x) { return zbphw::head_mixtures(weights, x); }, v) < 1e-8);
}

TEST_CASE("fused loops give what plain tensor operations give, values and gradients") {
  // Sizes with and without a rest after the loops' lanes, one row and many.
  const std::int64_t batch = GENERATE(1, 5), length = GENERATE(3, 40), heads = 3, width = GENERATE(2, 14);
  const std::int64_t channels = heads * width;
  const at::Tensor x = values({batch, length, channels}, 0.3).to(at::kFloat);
  const at::Tensor y = values({batch, length, channels}, 1.3).to(at::kFloat);
  const at::Tensor gain = values({channels}, 0.8).to(at::kFloat);
  const at::Tensor weights = values({batch, heads, length, length}, 0.2).to(at::kFloat);
  const zbphw::RotaryTable table = zbphw::rotary_table(64, width, 100, at::kFloat);
  using Pair = std::function<at::Tensor(const at::Tensor&, const at::Tensor&)>;
  const auto compare = [](const Pair& fused, const Pair& plain, const at::Tensor& a, const at::Tensor& b) {
    const auto run = [&](const Pair& f) {
      const at::Tensor first = a.clone().requires_grad_(), second = b.clone().requires_grad_();
      const at::Tensor result = f(first, second);
      (result * values(result.sizes(), 0.6).to(at::kFloat)).sum().backward();
      return std::vector<at::Tensor>{result.detach(), first.grad(), second.grad()};
    };
    const std::vector<at::Tensor> one = run(fused), two = run(plain);
    for (std::size_t i = 0; i < 3; ++i) {
      if (!two[i].defined()) continue;  // the second argument is not used
      const double scale = two[i].abs().max().item<double>();
      CHECK((one[i] - two[i]).abs().max().item<double>() < 2e-5 * scale);
    }
  };
  compare([](auto& a, auto& b) { return zbphw::rms_norm(a, b, 1e-6); },
          [](auto& a, auto& b) { return zbphw::rms_norm_by_tensors(a, b, 1e-6); }, x, gain);
  compare([&](auto& a, auto&) { return zbphw::rotate(a, heads, table); },
          [&](auto& a, auto&) { return zbphw::rotate_by_tensors(a, heads, table); }, x, gain);
  compare([&](auto& a, auto& b) { return zbphw::head_scores(a, b, heads, 0.7); },
          [&](auto& a, auto& b) { return zbphw::head_scores_by_tensors(a, b, heads, 0.7); }, x, y);
  compare([](auto& a, auto& b) { return zbphw::head_mixtures(a, b); },
          [](auto& a, auto& b) { return zbphw::head_mixtures_by_tensors(a, b); }, weights, y);
  zbphw::DigitalCores cores;
  compare([&](auto& a, auto& b) { return cores.swiglu(a, b, 0); },
          [](auto& a, auto& b) { return at::sigmoid(a) * a * b; }, x, y);
}

TEST_CASE("half-width types take the plain operations, statistics in float") {
  const at::Tensor x = values({1, 4, 8}, 0.3).to(at::kFloat), gain = values({8}, 0.8).to(at::kFloat);
  const at::Tensor half = zbphw::rms_norm(x.to(at::kBFloat16), gain, 1e-6);
  CHECK(half.scalar_type() == at::kBFloat16);
  // bfloat16 keeps 8 bits: half a unit in the last place of values below 4 is 2^-7, of inputs and of the output.
  CHECK((half.to(at::kFloat) - zbphw::rms_norm(x, gain, 1e-6)).abs().max().item<double>() < 0.03);
}

TEST_CASE("cross-entropy sums minus the log of the target's share") {
  const at::Tensor logits = row({0.0, std::log(3.0), 0.0, 0.0}).view({1, 2, 2});
  const at::Tensor targets = at::tensor(std::vector<std::int64_t>{1, 0}, at::kLong).view({1, 2});
  CHECK(zbphw::cross_entropy_sum(logits, targets).item<double>() == Approx(std::log(4.0 / 3) + std::log(2.0)));
}

TEST_CASE("the digital softmax is causal and its rows sum to one") {
  zbphw::DigitalCores cores;
  const at::Tensor scores = values({2, 3, 5, 5}, 0.7);
  const at::Tensor weights = cores.softmax(scores, 0);
  CHECK(weights.triu(1).abs().max().item<double>() == 0);
  CHECK((weights.sum(-1) - 1).abs().max().item<double>() < 1e-12);
  // Row 1 of one head by hand.
  const double a = std::exp(scores[1][2][1][0].item<double>()), b = std::exp(scores[1][2][1][1].item<double>());
  CHECK(weights[1][2][1][0].item<double>() == Approx(a / (a + b)));
}

TEST_CASE("the digital cores' gradients equal finite differences") {
  zbphw::DigitalCores cores;
  CHECK(gradient_error([&](const at::Tensor& v) { return cores.softmax(v, 0); }, values({1, 2, 4, 4}, 0.2)) < 1e-8);
  const at::Tensor gate = values({1, 3, 4}, 0.4), up = values({1, 3, 4}, 1.9);
  CHECK(gradient_error([&](const at::Tensor& v) { return cores.swiglu(v, up, 0); }, gate) < 1e-8);
  CHECK(gradient_error([&](const at::Tensor& v) { return cores.swiglu(gate, v, 0); }, up) < 1e-8);
  const double g = gate[0][1][2].item<double>(), u = up[0][1][2].item<double>();
  CHECK(cores.swiglu(gate, up, 0)[0][1][2].item<double>() == Approx(g / (1 + std::exp(-g)) * u));
}
