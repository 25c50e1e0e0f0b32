#include "training/train_config.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/config_kind.hpp"
#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::load_train_config;
using zbphw::TrainConfig;

namespace fs = std::filesystem;

namespace {

const std::string configs = std::string(ZBPHW_SOURCE_DIR) + "/configs";

std::string minimal(const std::string& model) {
  return R"({"kind": "train", "data": {"path": "a.txt"}, "budget_tokens": 1000, "model": )" + model + "}";
}

}  // namespace

TEST_CASE("every shipped model and train configuration is valid") {
  int count = 0;
  for (const auto& file : fs::directory_iterator(configs + "/models")) {
    INFO(file.path());
    CHECK_NOTHROW(zbphw::load_config_of_kind<zbphw::ModelConfig>("model", file.path().string()));
    ++count;
  }
  for (const auto& file : fs::directory_iterator(configs + "/train")) {
    INFO(file.path());
    CHECK_NOTHROW(load_train_config(file.path().string()));
    ++count;
  }
  CHECK(count >= 7);
}

TEST_CASE("the shipped rungs have their exact parameter counts") {
  const auto count = [](const std::string& name) {
    const std::string path = configs + "/models/" + name + ".json";
    return zbphw::parameter_count(zbphw::load_config_of_kind<zbphw::ModelConfig>("model", path));
  };
  CHECK(count("rung_72m") == 72114688);
  CHECK(count("rung_135m") == 135303936);
  CHECK(count("rung_146m_wide") == 145856800);
  CHECK(count("rung_147m") == 146522688);
  CHECK(count("rung_270m") == 269550592);
  // 2 V C + T C + L (4 C^2 + 3 C F + 4 C) + C with V = 50257 and T = 1024, by an independent script.
  CHECK(count("s60") == 77694464);
  CHECK(count("s124") == 162953472);
  CHECK(count("s350") == 407636992);
  CHECK(count("s1b") == 1017583616);
}

TEST_CASE("a model is named, named and changed, read from a file, or written out") {
  const ScratchDirectory scratch;
  const auto model = [&](const std::string& text, const std::vector<std::string>& overrides = {}) {
    return load_train_config(scratch.file("t.json", minimal(text)), overrides).model;
  };
  CHECK(model(R"("quickstart")").width == 128);
  CHECK(model(R"({"preset": "quickstart", "layers": 2})").width == 128);
  CHECK(model(R"({"preset": "quickstart", "layers": 2})").layers == 2);
  CHECK(model(R"({"preset": "quickstart"})", {"model.width=64"}).width == 64);
  const std::string written = R"({"layers": 3, "width": 32, "heads": 2, "context_tokens": 8})";
  CHECK(model(written).layers == 3);
  CHECK(model("\"" + scratch.file("m.json", written) + "\"").layers == 3);
  CHECK(model(R"("quickstart")", {"model=" + scratch.path("m.json")}).layers == 3);
}

TEST_CASE("mistakes in a train configuration are told with their place") {
  const ScratchDirectory scratch;
  const auto load = [&](const std::string& text) { return load_train_config(scratch.file("t.json", text)); };
  CHECK_THROWS_WITH(load(minimal(R"("quickstrat")")), Contains("$.model") && Contains("did you mean 'quickstart'?"));
  CHECK_THROWS_WITH(load(minimal(R"("none.json")")), Contains("none.json"));
  CHECK_THROWS_WITH(load(minimal("3")), Contains("$.model: got 3"));
  CHECK_THROWS_WITH(load(minimal(R"({"preset": "quickstart", "heads": 3})")), Contains("heads: must divide"));
  CHECK_THROWS_WITH(load(R"({"data": {"path": "a"}, "budget_tokens": 1})"), Contains("$.model: is missing"));
  CHECK_THROWS_WITH(load(R"({"kind": "device"})"), Contains("$.kind"));
  std::string text = minimal(R"("quickstart")");
  text.insert(text.size() - 1, R"(, "rule": "backprop")");
  CHECK_THROWS_WITH(load(text), Contains("$.rule: got \"backprop\"; allowed: bp or zbp"));
}

TEST_CASE("the effective configuration reads back as itself") {
  const TrainConfig config = load_train_config(configs + "/train/quickstart.json");
  const zbphw::Json written = zbphw::write_config(config);
  CHECK(zbphw::write_config(zbphw::read_config<TrainConfig>(written, "again")) == written);
}

// 20 tokens a parameter of the 135.3M rung, at 24 x 256 tokens an update.
TEST_CASE("a token budget takes whole updates and a part of one") {
  TrainConfig config;
  config.batch.sequences = 24;
  config.model.context_tokens = 256;
  config.budget_tokens = 2706078720;
  CHECK(config.total_steps() == 440443);
  CHECK(config.total_steps() * config.tokens_per_update() == 2706081792);
  config.budget_tokens = 6144;
  CHECK(config.total_steps() == 1);
  config.budget_tokens = 6145;
  CHECK(config.total_steps() == 2);
}
