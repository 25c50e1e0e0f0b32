// A chip behind the plugin interface is a physical block like any other.
#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "hw/device_config.hpp"
#include "plugin_fixture.hpp"
#include "scratch_directory.hpp"

using namespace zbphw;
using Catch::Contains;

namespace {

const Json attachments[] = {{{"isolation", "process"}}, {{"isolation", "none"}}};

at::Tensor gate(const at::Tensor& inputs) {
  const std::vector<at::Tensor> halves = inputs.to(at::kDouble).chunk(2, 1);
  return halves[0] / (1 + at::exp(-halves[0])) * halves[1];
}

}  // namespace

TEST_CASE("a plugin answers queries, and its totals are the block's meter, clock and temperature") {
  for (const Json& more : attachments) {
    const auto block = fault_block("swiglu", wide(3), Json::object(), more);
    CHECK(block->spec().name == "swiglu");
    CHECK(block->spec().input_width == 6);
    CHECK(block->spec().locality == Locality::elementwise);
    CHECK(block->plugin_name() == "fault plugin");
    const at::Tensor inputs = waves(5, 6);
    const Readout readout = block->query(batch_of(inputs));
    CHECK(at::allclose(readout.values.to(at::kDouble), gate(inputs), 1e-6, 1e-6));
    CHECK(readout.applied.equal(inputs));
    CHECK(block->meter().queries == 5);
    CHECK(block->meter().dac_conversions == 30);
    CHECK(block->meter().adc_conversions == 15);
    CHECK(block->meter().busy_s == 1.25);
    CHECK(block->meter().energy.array_j == 10);
    CHECK(block->clock_s() == 2.5);
    CHECK(block->temperature_k() == 295);
    CHECK(block->readout_noise(inputs, 0, 0).equal(at::full({5}, 0.25F)));
    CHECK(block->dac_step(inputs, 0, 0).equal(at::zeros({5})));
  }
}

TEST_CASE("batches may grow and shrink on one link") {
  const auto block = fault_block("swiglu", wide(40), Json::object());
  for (const std::int64_t rows : {1, 700, 3, 2000, 1}) {
    const at::Tensor inputs = waves(rows, 80, static_cast<double>(rows));
    CHECK(at::allclose(block->query(batch_of(inputs)).values.to(at::kDouble), gate(inputs), 1e-6, 1e-6));
  }
}

TEST_CASE("double precision inputs are rounded to what the chip takes") {
  const auto block = fault_block("swiglu", wide(3), Json::object());
  const at::Tensor inputs = waves(4, 6);
  CHECK(block->query(batch_of(inputs.to(at::kDouble))).values.equal(block->query(batch_of(inputs)).values));
}

TEST_CASE("a causal row drives and reads its own entries alone") {
  for (const Json& more : attachments) {
    const auto block = fault_block("softmax", wide(4, 4), Json::object(), more);
    QueryBatch batch = batch_of(at::zeros({3, 4}));
    batch.inputs[0][3] = std::nanf("");  // not driven: row 1 has two inputs
    batch.slot.first_row = 1;
    const at::Tensor values = block->query(batch).values;
    const float third = 1.0F / 3;
    CHECK(at::allclose(
        values, at::tensor({.5F, .5F, 0.F, 0.F, third, third, third, 0.F, .25F, .25F, .25F, .25F}).view({3, 4})));
    batch.inputs[1][2] = std::nanf("");
    CHECK_THROWS_WITH(block->query(batch), Contains("input 2 of query 2 is not finite"));
  }
}

TEST_CASE("probes on a plugin without a probe of its own are made of queries") {
  const auto block = fault_block("swiglu", wide(3), Json::object());
  ProbeRequest request;
  request.point = waves(2, 6);
  request.cotangent = at::ones({2, 3});
  request.probes = 64;
  request.amplitude = 1e-2;
  const at::Tensor estimate = block->probe(request).estimate;
  CHECK(block->meter().queries == 2 * 2 * 64);
  // Each input reaches one output, so with cotangent one the estimate's mean is the slope; here the ideal block's own
  // estimate is the reference: the same signs, the same function.
  BlockRequest exact = wide(3);
  exact.fidelity = Fidelity::ideal;
  const auto ideal = make_block("swiglu", {Json::object(), "test"}, exact);
  CHECK(at::allclose(estimate, ideal->probe(request).estimate, 1e-3, 1e-3));
}

TEST_CASE("a block that holds weights is programmed") {
  for (const Json& more : attachments) {
    BlockRequest request = wide(2);
    request.input_width = 3;
    const auto block = fault_block("crossbar_linear", request, Json::object(), more);
    CHECK(block->description().holds_weights);
    block->program(at::tensor({1.F, 2.F, 3.F, 4.F, 5.F, 6.F}).view({2, 3}));
    CHECK(block->query(batch_of(at::tensor({1.F, 10.F, 100.F}).view({1, 3})))
              .values.equal(at::tensor({321.F, 654.F}).view({1, 2})));
    CHECK_THROWS_WITH(block->program(at::ones({3, 3})), Contains("has 3 rows for 2 outputs"));
  }
  CHECK_THROWS_WITH(fault_block("swiglu", wide(3), Json::object())->program(at::ones({3, 6})),
                    Contains("holds no weights"));
}

TEST_CASE("an equilibrium block settles with and without a nudge") {
  for (const Json& more : attachments) {
    const auto block = fault_block("equilibrium", wide(3), Json::object(), more);
    const at::Tensor x = waves(2, 3);
    CHECK(block->settle(batch_of(x), {}).values.equal(x));
    CHECK(block->settle(batch_of(x), at::ones({2, 3})).values.equal(x + 1));
    CHECK_THROWS_WITH(block->settle(batch_of(x), at::ones({1, 3})), Contains("the nudge has other rows"));
  }
}

TEST_CASE("blocks that share links share one process, and end with it") {
  const ScratchDirectory scratch;
  BlockRequest request = wide(3);
  request.plugins = std::make_shared<PluginLinks>();
  const Json first = {{"pid_file", scratch.path("first")}};
  const Json second = {{"pid_file", scratch.path("second")}};
  auto a = fault_block("swiglu", request, first);
  const auto b = fault_block("softmax", request, second);
  CHECK(file_text(scratch.path("first")) == file_text(scratch.path("second")));
  a.reset();
  CHECK_NOTHROW(b->query(batch_of(waves(1, 3))));
  const auto alone = fault_block("swiglu", wide(3), second);
  CHECK(file_text(scratch.path("first")) != file_text(scratch.path("second")));
}

TEST_CASE("a resumed run goes on counting where a chip starts from nothing") {
  const auto block = fault_block("swiglu", wide(3), Json::object());
  Meter before;
  before.queries = 100;
  before.busy_s = 7;
  block->resume_at(50, before);
  CHECK(block->meter().queries == 100);
  CHECK(block->clock_s() >= 50);
  block->query(batch_of(waves(4, 6)));
  CHECK(block->meter().queries == 104);
  CHECK(block->meter().busy_s == 8);
  CHECK(block->clock_s() == 2);  // its own clock again
}

TEST_CASE("the sample in C is an 8-bit gate") {
  for (const char* isolation : {"process", "none"}) {
    const Json plugin = {{"library", ZBPHW_MY_CHIP}, {"isolation", isolation}};
    PluginBlock block("swiglu", plugin_section(plugin), wide(16));
    const at::Tensor inputs = 3 * waves(8, 32);
    const Readout readout = block.query(batch_of(inputs));
    const double step = 16.0 / 254;
    CHECK((readout.applied - inputs).abs().max().item<double>() <= step / 2 * 1.0001);
    // Half an output step of the chip's own rounding beside what its rounded inputs give.
    CHECK((readout.values.to(at::kDouble) - gate(readout.applied)).abs().max().item<double>() <= step / 2 * 1.0001);
    const at::Tensor codes = readout.values.to(at::kDouble) / step;
    CHECK(at::allclose(codes, codes.round(), 0, 1e-4));
    CHECK(block.dac_step(inputs, 0, 0)[0].item<double>() == Approx(step));
    CHECK(block.meter().queries == 8);  // counted here: the sample does not
    CHECK(block.meter().busy_s > 0);
    CHECK_THROWS_WITH(PluginBlock("softmax", plugin_section(plugin), wide(4)),
                      Contains("offers no block \"softmax\"; it offers swiglu"));
  }
}

TEST_CASE("the sample bench in Python answers as the exact blocks do") {
  const Json plugin = {{"command", {"/usr/bin/python3", "my_bench.py"}},
                       {"folder", ZBPHW_SOURCE_DIR "/docs/plugin_samples"}};
  BlockRequest request = wide(8, 8);
  request.plugins = std::make_shared<PluginLinks>();
  PluginBlock softmax("softmax", plugin_section(plugin), request);
  request.causal_period = 0;
  PluginBlock swiglu("swiglu", plugin_section(plugin), request);
  const auto exact = [](const char* kind, BlockRequest ideal, const QueryBatch& batch) {
    ideal.fidelity = Fidelity::ideal;
    return make_block(kind, {Json::object(), "test"}, ideal)->query(batch).values;
  };
  QueryBatch batch = batch_of(waves(20, 8));
  batch.slot.first_row = 3;
  CHECK(at::allclose(softmax.query(batch).values, exact("softmax", wide(8, 8), batch), 1e-5, 1e-6));
  batch = batch_of(waves(5, 16));
  CHECK(at::allclose(swiglu.query(batch).values, exact("swiglu", wide(8), batch), 1e-5, 1e-6));
  // exp(1000) is beyond Python's floats: its own error, with the query's number.
  batch.inputs = at::full({2, 16}, -1000.F);
  CHECK_THROWS_WITH(swiglu.query(batch), Contains("(swiglu): queries 5 to 6") && Contains("OverflowError"));
}

TEST_CASE("a device file names plugins, by a text or an object, beside itself") {
  const ScratchDirectory scratch;
  std::filesystem::copy(ZBPHW_MY_CHIP, scratch.path("libmychip.so"));
  const std::string file = scratch.file(
      "lab.json", R"({"kind": "device", "name": "lab", "blocks": {"swiglu": {"plugin": "libmychip.so"}}})");
  const DeviceConfig device = load_device(file);
  const RawConfig section = device.block("swiglu");
  const Json& plugin = section.value.at("plugin");
  CHECK(plugin.at("library") == "libmychip.so");
  CHECK(plugin.at("isolation") == "process");
  CHECK(plugin.at("timeout_s") == 10);
  CHECK(plugin.at("folder") == std::filesystem::absolute(file).parent_path().string());
  // What is written back reads again, to the same.
  CHECK(check_block("swiglu", section) == section.value);
  const auto block = make_block("swiglu", section, wide(4));
  CHECK(block->query(batch_of(waves(2, 8))).values.size(1) == 4);
  BlockRequest ideal = wide(4);
  ideal.fidelity = Fidelity::ideal;
  CHECK(at::allclose(make_block("swiglu", section, ideal)->query(batch_of(waves(2, 8))).values,
                     gate(waves(2, 8)).to(at::kFloat), 1e-6, 1e-6));
  CHECK_THROWS_WITH(check_block("swiglu", {{{"plugin", "a.so"}, {"dac", Json::object()}}, "d.json: $.blocks.swiglu"}),
                    Contains("$.blocks.swiglu") && Contains("dac"));
  const RawConfig own = {{{"plugin", "a.so"}}, "d.json: $.blocks.resonator"};
  CHECK_NOTHROW(check_block("resonator", own));
  CHECK_THROWS_WITH(make_block("resonator", own, ideal), Contains("only the plugin knows"));
}
