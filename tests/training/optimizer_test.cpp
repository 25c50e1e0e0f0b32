#include "training/optimizer.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/linalg_qr.h>
#include <ATen/ops/linalg_svd.h>
#include <ATen/ops/matmul.h>
#include <ATen/ops/zeros.h>
#include <c10/core/GradMode.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "training/muon.hpp"

using Catch::Contains;
using zbphw::NamedParameter;
using zbphw::ParameterRole;

namespace {

at::Tensor values(at::IntArrayRef shape, double phase) {
  std::int64_t count = 1;
  for (const std::int64_t n : shape) count *= n;
  return ((at::arange(count, at::kDouble) * 2.3 + phase).sin()).view(shape).clone();
}

NamedParameter parameter(const std::string& name, const at::Tensor& value, const at::Tensor& gradient,
                         ParameterRole role) {
  at::Tensor tensor = value.clone().requires_grad_();
  tensor.mutable_grad() = gradient.clone();
  return {name, tensor, role};
}

at::Tensor singular_values(const at::Tensor& matrix) { return std::get<1>(at::linalg_svd(matrix, false)); }

}  // namespace

TEST_CASE("AdamW follows its published steps, decaying matrices only") {
  zbphw::OptimizerConfig config;
  config.adamw.learning_rate = 0.1;
  const ParameterRole role =
      GENERATE(ParameterRole::hidden_matrix, ParameterRole::head, ParameterRole::embedding, ParameterRole::gain);
  const bool decays = role == ParameterRole::hidden_matrix || role == ParameterRole::head;
  std::vector<NamedParameter> all = {parameter("w", values({1, 1}, 0.5), values({1, 1}, 0), role)};
  const auto optimizer = zbphw::make_optimizer(config, all);

  double weight = std::sin(0.5), m = 0, v = 0;
  const double gradients[] = {0.3, -0.2, 0.7};
  for (int t = 1; t <= 3; ++t) {
    const double g = gradients[t - 1];
    const double rate = 0.1 * 0.5;  // the schedule's factor
    m = 0.9 * m + 0.1 * g;
    v = 0.95 * v + 0.05 * g * g;
    const double step = (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.95, t))) + 1e-8);
    weight = weight - (decays ? rate * 0.1 * weight : 0) - rate * step;
    all[0].tensor.mutable_grad().fill_(g);
    optimizer->step(t, 0.5);
    CHECK(all[0].tensor.item<double>() == Approx(weight).epsilon(1e-12));
  }
}

TEST_CASE("Newton-Schulz applies its polynomial to the singular values and keeps the vectors") {
  const std::int64_t rows = GENERATE(6, 10), columns = 16 - rows;
  const std::vector<double> coefficients = {3.4445, -4.7750, 2.0315};
  const at::Tensor matrix = values({rows, columns}, 0.3) * 5;
  const auto [u, s, vh] = at::linalg_svd(matrix, false);
  at::Tensor share = s / (s.square().sum().sqrt() + 1e-7);
  for (int i = 0; i < 5; ++i) share = 3.4445 * share - 4.7750 * share.pow(3) + 2.0315 * share.pow(5);
  const at::Tensor expected = at::matmul(u * share, vh);
  CHECK((zbphw::nearly_orthogonal(matrix, coefficients, 5) - expected).abs().max().item<double>() < 1e-12);
}

TEST_CASE("Newton-Schulz brings the singular values of a wide matrix near one") {
  // Singular values from .05 to 1 of their largest; bounds of the published iteration with a margin.
  const at::Tensor basis_u = std::get<0>(at::linalg_qr(values({16, 16}, 0.1) + values({16, 16}, 1.7).square()));
  const at::Tensor basis_v = std::get<0>(at::linalg_qr(values({48, 48}, 0.2) + values({48, 48}, 2.7).square()));
  const at::Tensor s = at::arange(1, 17, at::kDouble) / 16 * 0.95 + 0.05;
  const at::Tensor matrix = at::matmul(basis_u * s, basis_v.narrow(0, 0, 16));
  const at::Tensor after = singular_values(zbphw::nearly_orthogonal(matrix, {3.4445, -4.7750, 2.0315}, 5));
  CHECK(after.min().item<double>() > 0.6);
  CHECK(after.max().item<double>() < 1.21);
}

TEST_CASE("Muon steps along the orthogonalised Nesterov momentum, scaled by the aspect") {
  zbphw::OptimizerConfig config;
  config.muon.emplace();
  const at::Tensor start = values({8, 2}, 0.5), first = values({8, 2}, 1.5), second = values({8, 2}, 2.5);
  std::vector<NamedParameter> all = {parameter("w", start, first, ParameterRole::hidden_matrix),
                                     parameter("gain", values({3}, 1), values({3}, 2), ParameterRole::gain)};
  const auto optimizer = zbphw::make_optimizer(config, all);
  const auto direction = [](const at::Tensor& g) { return zbphw::nearly_orthogonal(g, {3.4445, -4.7750, 2.0315}, 5); };

  optimizer->step(1, 1);
  at::Tensor momentum = 0.05 * first;
  at::Tensor expected = start * (1 - 0.02 * 0.1) - 0.02 * 2 * direction(0.05 * first + 0.95 * momentum);  // sqrt(8 / 2)
  CHECK((all[0].tensor - expected).abs().max().item<double>() < 1e-12);

  all[0].tensor.mutable_grad().copy_(second);
  optimizer->step(2, 0.5);
  momentum = 0.95 * momentum + 0.05 * second;
  expected = expected * (1 - 0.01 * 0.1) - 0.01 * 2 * direction(0.05 * second + 0.95 * momentum);
  CHECK((all[0].tensor - expected).abs().max().item<double>() < 1e-12);
}

TEST_CASE("the hybrid gives hidden matrices to Muon and everything else to AdamW") {
  zbphw::OptimizerConfig config;
  const at::Tensor matrix = values({4, 4}, 1);
  const std::vector<NamedParameter> all = {parameter("e", matrix, matrix, ParameterRole::embedding),
                                           parameter("h", matrix, matrix, ParameterRole::hidden_matrix)};
  const auto names = [&] {
    std::vector<std::string> result;
    for (const auto& [name, tensor] : zbphw::make_optimizer(config, all)->state()) result.push_back(name);
    return result;
  };
  using Names = std::vector<std::string>;
  CHECK(names() == Names{"adamw.mean.e", "adamw.mean_square.e", "adamw.mean.h", "adamw.mean_square.h"});
  config.muon.emplace();
  CHECK(names() == Names{"muon.momentum.h", "adamw.mean.e", "adamw.mean_square.e"});
}

TEST_CASE("an optimiser restored from its state continues as if never stopped") {
  zbphw::OptimizerConfig config;
  config.muon.emplace();
  const auto make = [] {
    return std::vector<NamedParameter>{
        parameter("e", values({4, 4}, 1), values({4, 4}, 2), ParameterRole::embedding),
        parameter("h", values({4, 4}, 3), values({4, 4}, 4), ParameterRole::hidden_matrix)};
  };
  const auto all = make(), copies = make();
  const auto optimizer = zbphw::make_optimizer(config, all);
  optimizer->step(1, 1);
  const auto restored = zbphw::make_optimizer(config, copies);
  const at::NoGradGuard values_only;
  for (std::size_t i = 0; i < all.size(); ++i) copies[i].tensor.copy_(all[i].tensor);
  const auto from = optimizer->state(), to = restored->state();
  for (std::size_t i = 0; i < from.size(); ++i) to[i].second.copy_(from[i].second);
  optimizer->step(2, 1);
  restored->step(2, 1);
  for (std::size_t i = 0; i < all.size(); ++i) CHECK(at::equal(copies[i].tensor, all[i].tensor));
}

TEST_CASE("clipping scales all gradients together and leaves small ones") {
  const std::vector<NamedParameter> all = {
      parameter("a", at::zeros({1}, at::kDouble), at::zeros({1}, at::kDouble) + 3, ParameterRole::gain),
      parameter("b", at::zeros({1}, at::kDouble), at::zeros({1}, at::kDouble) - 4, ParameterRole::gain)};
  CHECK(zbphw::gradient_norm(all) == Approx(5));
  zbphw::clip_gradients(all, 5, 6);
  CHECK(all[0].tensor.grad().item<double>() == 3);
  zbphw::clip_gradients(all, 5, 2);
  CHECK(all[0].tensor.grad().item<double>() == Approx(1.2));
  CHECK(all[1].tensor.grad().item<double>() == Approx(-1.6));
  zbphw::clear_gradients(all);
  CHECK_FALSE(all[0].tensor.grad().defined());
}

TEST_CASE("optimiser settings out of range are refused") {
  const auto read = [](const std::string& text) {
    return zbphw::read_config<zbphw::OptimizerConfig>(zbphw::Json::parse(text), "o: $");
  };
  CHECK_THROWS_WITH(read(R"({"adamw": {"beta2": 1}})"), Contains("$.adamw.beta2: got 1"));
  CHECK_THROWS_WITH(read(R"({"muon": {"coefficients": [1, 2]}})"),
                    Contains("$.muon.coefficients: needs three numbers"));
  CHECK_FALSE(read(R"({"muon": null})").muon.has_value());
  CHECK(read(R"({"muon": {"learning_rate": 0.03}})").muon->learning_rate == 0.03);
}
