#include "training/model.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <c10/core/GradMode.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "reference_model.hpp"

using zbphw::Model;
using zbphw::ModelConfig;

namespace {

ModelConfig tiny() {
  ModelConfig c;
  c.layers = 2;
  c.width = 12;
  c.heads = 2;
  c.ffn_multiple_of = 4;
  c.vocab = 7;
  c.context_tokens = 6;
  c.rope_theta = 100;
  c.init_std = 0.4;  // large, so that softmax and gate are far from linear
  c.embedding_init_std = 1;
  c.initial_post_norm_gain = 0.5;
  return c;
}

const std::vector<std::int64_t> tokens = {3, 1, 4, 1, 5};
const std::vector<std::int64_t> targets = {1, 4, 1, 5, 6};

at::Tensor as_batch(const std::vector<std::int64_t>& row) { return at::tensor(row, at::kLong).view({1, -1}); }

at::Tensor mean_loss(const Model& model) {
  zbphw::DigitalCores cores;
  return zbphw::cross_entropy_sum(model.forward(as_batch(tokens), cores), as_batch(targets)) / double(tokens.size());
}

std::int64_t allocated(const Model& model) {
  std::int64_t count = 0;
  for (const zbphw::NamedParameter& p : model.parameters()) count += p.tensor.numel();
  return count;
}

}  // namespace

TEST_CASE("the model allocates as many parameters as its config counts") {
  ModelConfig c = tiny();
  CHECK(allocated(Model(c, 1)) == zbphw::parameter_count(c));
  c.positions = zbphw::Positions::learned;
  CHECK(allocated(Model(c, 1)) == zbphw::parameter_count(c));
}

TEST_CASE("the loss equals that of plain loops over the equations") {
  ModelConfig c = tiny();
  SECTION("as OLMo2 places its norms") {}
  SECTION("norms before the branches") {
    c.norm_placement = zbphw::NormPlacement::pre;
    c.initial_post_norm_gain = 1;
  }
  SECTION("learned positions") { c.positions = zbphw::Positions::learned; }
  const Model exact(c, 5, at::kDouble);
  CHECK(mean_loss(exact).item<double>() == Approx(reference::PlainModel(exact).loss(tokens, targets)).epsilon(1e-12));
  const Model single(c, 5, at::kFloat);
  CHECK(mean_loss(single).item<double>() == Approx(reference::PlainModel(single).loss(tokens, targets)).epsilon(1e-5));
}

TEST_CASE("the gradient of the whole model equals finite differences") {
  const Model model(tiny(), 3, at::kDouble);
  mean_loss(model).backward();
  const double step = 1e-5;
  for (const zbphw::NamedParameter& p : model.parameters()) {
    INFO(p.name);
    const at::NoGradGuard values_only;
    const at::Tensor flat = p.tensor.view({-1});
    const at::Tensor gradient = p.tensor.grad().reshape({-1});
    // Seven elements spread over each parameter.
    for (std::int64_t i = 0; i < flat.numel(); i += flat.numel() / 7 + 1) {
      const double before = flat[i].item<double>();
      flat[i].fill_(before + step);
      const double up = mean_loss(model).item<double>();
      flat[i].fill_(before - step);
      const double down = mean_loss(model).item<double>();
      flat[i].fill_(before);
      CHECK(gradient[i].item<double>() == Approx((up - down) / (2 * step)).margin(1e-8).epsilon(1e-6));
    }
  }
}

TEST_CASE("a logit never depends on a later token") {
  const Model model(tiny(), 1);
  zbphw::DigitalCores cores;
  std::vector<std::int64_t> changed = tokens;
  changed[3] = 6;
  const at::Tensor before = model.forward(as_batch(tokens), cores);
  const at::Tensor after = model.forward(as_batch(changed), cores);
  CHECK(at::equal(before.narrow(1, 0, 3), after.narrow(1, 0, 3)));
  CHECK_FALSE(at::equal(before.narrow(1, 3, 1), after.narrow(1, 3, 1)));
}

TEST_CASE("initial values follow the config, and the seed alone") {
  ModelConfig c = tiny();
  c.width = 256;
  c.vocab = 50;
  c.init_std = 0.02;
  const auto first = Model(c, 11).parameters(), again = Model(c, 11).parameters(), other = Model(c, 12).parameters();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const zbphw::NamedParameter& p = first[i];
    INFO(p.name);
    CHECK(at::equal(p.tensor, again[i].tensor));
    if (p.role == zbphw::ParameterRole::gain) {
      const bool after_branch =
          p.name.find("attention_gain") != std::string::npos || p.name.find("ffn") != std::string::npos;
      CHECK(p.tensor.min().item<float>() == (after_branch ? 0.5F : 1.0F));
    } else {
      CHECK_FALSE(at::equal(p.tensor, other[i].tensor));
      const double std = p.role == zbphw::ParameterRole::embedding ? 1 : 0.02;
      CHECK(p.tensor.abs().max().item<double>() <= 3 * std * (1 + 1e-6));
      // A normal cut at three deviations keeps .9733 of its variance.
      CHECK(p.tensor.square().mean().item<double>() / (std * std) == Approx(0.9733).epsilon(0.1));
    }
  }
}

TEST_CASE("an unknown vocabulary is refused") {
  ModelConfig c = tiny();
  c.vocab = 0;
  CHECK_THROWS_WITH(Model(c, 1), Catch::Contains("vocab"));
}
