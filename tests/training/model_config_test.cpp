#include "training/model_config.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using zbphw::Json;
using zbphw::ModelConfig;
using zbphw::parameter_count;

namespace {

ModelConfig shape(std::int64_t layers, std::int64_t width, std::int64_t vocab) {
  ModelConfig c;
  c.layers = layers;
  c.width = width;
  c.heads = width / 64 > 0 && width % 64 == 0 ? width / 64 : 1;
  c.vocab = vocab;
  return c;
}

ModelConfig read(const std::string& text) { return zbphw::read_config<ModelConfig>(Json::parse(text), "m.json: $"); }

}  // namespace

TEST_CASE("hidden widths are eight thirds of the width, rounded up to the multiple") {
  CHECK(shape(12, 512, 1).ffn_width() == 1408);
  CHECK(shape(12, 768, 1).ffn_width() == 2048);
  CHECK(shape(12, 800, 1).ffn_width() == 2176);
  CHECK(shape(11, 832, 1).ffn_width() == 2240);
  CHECK(shape(16, 1024, 1).ffn_width() == 2752);
}

TEST_CASE("the rungs of the ladder have their exact parameter counts") {
  CHECK(parameter_count(shape(12, 512, 32768)) == 72114688);
  CHECK(parameter_count(shape(12, 768, 32768)) == 135303936);
  CHECK(parameter_count(shape(12, 800, 32768)) == 145856800);
  CHECK(parameter_count(shape(11, 832, 32768)) == 146522688);
  CHECK(parameter_count(shape(16, 1024, 32768)) == 269550592);
}

TEST_CASE("learned positions add one embedding a place") {
  ModelConfig c = shape(2, 64, 100);
  c.context_tokens = 32;
  const std::int64_t rotary = parameter_count(c);
  c.positions = zbphw::Positions::learned;
  CHECK(parameter_count(c) == rotary + 32 * 64);
}

TEST_CASE("shapes that cannot be are refused with the key at fault") {
  const std::string rest = R"(, "layers": 1, "context_tokens": 8)";
  CHECK_THROWS_WITH(read(R"({"width": 128, "heads": 3)" + rest + "}"), Contains("$.heads: must divide width 128"));
  CHECK_THROWS_WITH(read(R"({"width": 15, "heads": 3)" + rest + "}"),
                    Contains("$.heads: rotary positions need an even"));
  CHECK_NOTHROW(read(R"({"width": 15, "heads": 3, "positions": "learned")" + rest + "}"));
  CHECK_THROWS_WITH(
      read(R"({"width": 16, "heads": 2, "norm_placement": "pre", "initial_post_norm_gain": 0.5)" + rest + "}"),
      Contains("$.initial_post_norm_gain: only norms placed"));
  CHECK_THROWS_WITH(read(R"({"heads": 2)" + rest + "}"), Contains("$.width: is missing"));
  CHECK_THROWS_WITH(read(R"({"width": 16, "heads": 2, "position": "rope")" + rest + "}"),
                    Contains("did you mean 'positions'?"));
}
