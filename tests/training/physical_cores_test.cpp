// The whole model's gradient through physical blocks.
#include "training/physical_cores.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <catch2/catch.hpp>

#include "training/digital_ops.hpp"
#include "training/model.hpp"

using namespace zbphw;

namespace {

ModelConfig tiny_model() {
  ModelConfig config;
  config.layers = 2;
  config.width = 16;
  config.heads = 2;
  config.ffn_multiple_of = 8;
  config.vocab = 11;
  config.context_tokens = 6;
  config.embedding_init_std = 1;
  config.init_std = 0.2;
  return config;
}

CoresShape shape_of(const ModelConfig& config) { return {config.layers, config.context_tokens, config.ffn_width()}; }

RawConfig two_blocks() { return {{{"softmax", Json::object()}, {"swiglu", Json::object()}}, "test: $.blocks"}; }

std::vector<at::Tensor> gradients(NonlinearCores& cores, at::ScalarType type) {
  const ModelConfig config = tiny_model();
  const Model model(config, 1, type);
  for (const NamedParameter& p : model.parameters()) p.tensor.requires_grad_(true);
  const at::Tensor tokens = (at::arange(3 * 6, at::kLong) * 7 % 11).view({3, 6});
  cores.begin_pass({});
  cross_entropy_sum(model.forward(tokens, cores), (tokens + 1) % 11).backward();
  std::vector<at::Tensor> result;
  for (const NamedParameter& p : model.parameters()) result.push_back(p.tensor.grad().flatten());
  return result;
}

ZbpConfig exact_estimators() {
  ZbpConfig config;
  config.score_core = {"orthogonal", 6, 1e-3};
  config.gate = {"wired", 1, 1e-3};
  return config;
}

}  // namespace

TEST_CASE("with ideal blocks and orthogonal probes at n = d every parameter's gradient equals BP's to 1e-5") {
  DigitalCores digital;
  PhysicalCores physical(two_blocks(), shape_of(tiny_model()), exact_estimators(), Fidelity::ideal, 1);
  const std::vector<at::Tensor> bp = gradients(digital, at::kDouble);
  const std::vector<at::Tensor> zbp = gradients(physical, at::kDouble);
  for (std::size_t i = 0; i < bp.size(); ++i) {
    CHECK(((zbp[i] - bp[i]).norm() / bp[i].norm()).item<double>() < 1e-5);
  }
}

TEST_CASE("a model's gradient is the same when its blocks resume from a saved state") {
  const ZbpConfig config;
  PhysicalCores first(two_blocks(), shape_of(tiny_model()), config, Fidelity::noisy, 5);
  gradients(first, at::kFloat);
  PhysicalCores second(two_blocks(), shape_of(tiny_model()), config, Fidelity::noisy, 5);
  second.restore(first.state());
  CHECK(second.state() == first.state());
  CHECK(at::cat(gradients(first, at::kFloat)).equal(at::cat(gradients(second, at::kFloat))));
  CHECK(second.state() == first.state());
}

TEST_CASE("cutting a batch into unequal passes changes no query's noise") {
  const ModelConfig config = tiny_model();
  const Model model(config, 1);
  const at::Tensor tokens = (at::arange(5 * 6, at::kLong) * 7 % 11).view({5, 6});
  const auto logits = [&](std::int64_t per_pass) {
    // Noise alone, no drift: time does depend on how passes are cut.
    const Json noise = {{"read_noise_fraction", 0.01}};
    PhysicalCores cores({{{"softmax", noise}, {"swiglu", noise}}, "test: $.blocks"}, shape_of(config), ZbpConfig(),
                        Fidelity::noisy, 1);
    std::vector<at::Tensor> parts;
    for (std::int64_t first = 0; first < 5; first += per_pass) {
      cores.begin_pass({3, Phase::train, first});
      parts.push_back(model.forward(tokens.narrow(0, first, std::min<std::int64_t>(per_pass, 5 - first)), cores));
    }
    return at::cat(parts);
  };
  CHECK(at::allclose(logits(5), logits(2), 1e-5, 1e-5));
}

TEST_CASE("the meter counts forward and probe queries of every layer") {
  PhysicalCores cores(two_blocks(), shape_of(tiny_model()), ZbpConfig(), Fidelity::ideal, 1);
  gradients(cores, at::kFloat);
  const std::int64_t score_rows = 3 * 2 * 6, tokens = 3 * 6, layers = 2;
  CHECK(cores.meter().queries == layers * (score_rows * (1 + 2 * 16) + tokens * (1 + 4)));
  CHECK(cores.nsr().contains("softmax"));
  CHECK(cores.nsr().contains("swiglu"));
}

TEST_CASE("devices and models that do not fit are refused") {
  const CoresShape shape = shape_of(tiny_model());
  CHECK_THROWS_WITH(PhysicalCores({{{"softmax", Json::object()}}, "d.json: $.blocks"}, shape, {}, Fidelity::ideal, 1),
                    Catch::Contains("has no block \"swiglu\""));
  ZbpConfig wired_scores;
  wired_scores.score_core.name = "wired";
  CHECK_THROWS_WITH(PhysicalCores(two_blocks(), shape, wired_scores, Fidelity::ideal, 1),
                    Catch::Contains("is not elementwise"));
  PhysicalCores cores(two_blocks(), shape, ZbpConfig(), Fidelity::ideal, 1);
  CHECK_THROWS_WITH(cores.softmax(at::zeros({1, 1, 4, 4}), 0), Catch::Contains("rows are 6 wide"));
}
