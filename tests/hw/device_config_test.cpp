#include "hw/device_config.hpp"

#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/config_kind.hpp"
#include "hw/block_registry.hpp"
#include "scratch_directory.hpp"

using namespace zbphw;
using Catch::Contains;

namespace {

std::string refusal(const std::string& text) {
  const ScratchDirectory scratch;
  try {
    load_device(scratch.file("chip.json", text));
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::config);
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace

TEST_CASE("every shipped device loads, and its effective form reads back unchanged") {
  int devices = 0;
  for (const auto& entry : std::filesystem::directory_iterator(ZBPHW_SOURCE_DIR "/configs/devices")) {
    if (entry.path().extension() != ".json") continue;
    INFO(entry.path());
    const DeviceConfig device = load_device(entry.path().string());
    CHECK(device.name == entry.path().stem().string());
    CHECK_FALSE(device.description.empty());
    CHECK(device.source != "not stated");
    const Json effective = write_config(device);
    CHECK(write_config(read_device(effective, "effective: $")) == effective);
    ++devices;
  }
  CHECK(devices >= 2);
}

TEST_CASE("a bare name finds a shipped device, and its blocks can be made") {
  const DeviceConfig device = load_device("default");
  for (const char* name : {"softmax", "swiglu"}) {
    BlockRequest request;
    request.output_width = 5;
    const auto block = make_block(name, device.block(name), request);
    CHECK(block->spec().name == name);
    CHECK(block->spec().output_width == 5);
  }
}

TEST_CASE("overrides reach into a block") {
  const DeviceConfig device = load_device("default", {"blocks.softmax.adc.bits=6"});
  CHECK(device.block("softmax").value.at("adc").at("bits") == 6);
}

TEST_CASE("a block's missing keys are filled with their defaults") {
  const DeviceConfig device = load_device("ideal");
  CHECK(device.block("softmax").value.at("chip").at("parallel_rows") == 1);
}

TEST_CASE("mistakes in a device file are named") {
  CHECK_THAT(refusal(R"({"kind": "device", "name": "x", "blocks": {"sofmax": {}}})"),
             Contains("unknown block 'sofmax'") && Contains("did you mean 'softmax'") && Contains("$.blocks"));
  CHECK_THAT(refusal(R"({"kind": "device", "name": "x", "blocks": {"softmax": {"adc": {"bitz": 8}}}})"),
             Contains("$.blocks.softmax.adc") && Contains("bitz") && Contains("did you mean 'bits'"));
  CHECK_THAT(refusal(R"({"kind": "device", "name": "x", "blocks": {"softmax": 3}})"), Contains("$.blocks.softmax"));
  CHECK_THAT(refusal(R"({"kind": "device", "name": "x", "blocks": [1]})"), Contains("$.blocks"));
  CHECK_THAT(refusal(R"({"kind": "device", "blocks": {}})"), Contains("name"));
  CHECK_THAT(refusal(R"({"kind": "train", "name": "x"})"), Contains("\"train\"") && Contains("device"));
}

TEST_CASE("a device or block that does not exist is named with its neighbours") {
  CHECK_THROWS_WITH(load_device("defualt"), Contains("defualt") && Contains("did you mean 'default'"));
  CHECK_THROWS_WITH(load_device("no/such.json"), Contains("no/such.json"));
  CHECK_THROWS_WITH(load_device("default").block("softmin"), Contains("did you mean 'softmax'"));
}

TEST_CASE("the device kind explains its blocks' keys") {
  const std::vector<FieldRow> rows = Registry<ConfigKind>::instance().at("device", "kind", "").explain();
  bool found = false;
  for (const FieldRow& row : rows) found = found || row.path == "blocks.swiglu.chip.adc.conversion_base_ns";
  CHECK(found);
}
