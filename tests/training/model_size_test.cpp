#include "training/model_size.hpp"

#include <catch2/catch.hpp>

#include "training/model.hpp"
#include "training/optimizer.hpp"

using zbphw::ModelConfig;

namespace {

ModelConfig small(zbphw::Positions positions) {
  ModelConfig c;
  c.layers = 3;
  c.width = 48;
  c.heads = 4;
  c.ffn_multiple_of = 32;
  c.vocab = 101;
  c.context_tokens = 16;
  c.positions = positions;
  return c;
}

std::int64_t sum_of(const std::vector<zbphw::ModelPart>& parts) {
  std::int64_t sum = 0;
  for (const zbphw::ModelPart& part : parts) sum += part.copies * part.parameters;
  return sum;
}

std::int64_t bytes_of(const zbphw::NamedTensors& tensors) {
  std::int64_t bytes = 0;
  for (const auto& [name, tensor] : tensors) bytes += static_cast<std::int64_t>(tensor.nbytes());
  return bytes;
}

}  // namespace

TEST_CASE("the parts of a model hold what a model allocates") {
  for (const auto positions : {zbphw::Positions::rope, zbphw::Positions::learned}) {
    const ModelConfig c = small(positions);
    std::int64_t allocated = 0;
    for (const auto& p : zbphw::Model(c, 1).parameters()) allocated += p.tensor.numel();
    CHECK(sum_of(zbphw::model_parts(c)) == allocated);
    CHECK(zbphw::training_state_bytes(c).weights == 4 * allocated);
  }
}

TEST_CASE("the optimisers keep as many bytes as a model's size says") {
  const ModelConfig c = small(zbphw::Positions::rope);
  const auto parameters = zbphw::Model(c, 1).parameters();
  zbphw::OptimizerConfig config;
  CHECK(bytes_of(zbphw::make_optimizer(config, parameters)->state()) == zbphw::training_state_bytes(c).optimiser_adamw);
  config.muon.emplace();
  CHECK(bytes_of(zbphw::make_optimizer(config, parameters)->state()) == zbphw::training_state_bytes(c).optimiser_muon);
}

TEST_CASE("a forward pass's operations are counted matrix by matrix") {
  const ModelConfig c = small(zbphw::Positions::rope);
  REQUIRE(c.ffn_width() == 128);
  const std::int64_t layer = 4 * (2 * 48 * 48)     // query, key, value, output
                             + 3 * (2 * 48 * 128)  // gate, up, down
                             + 2 * (2 * 16 * 48);  // scores and mixing over the whole context
  CHECK(zbphw::forward_operations_per_token(c) == 3 * layer + 2 * 48 * 101);
}
