// Our simulator behind the plugin interface answers as the built-in one: the same bits, the same meter, the same clock.
#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own

#include <catch2/catch.hpp>

#include "hw/crossbar/crossbar_linear.hpp"
#include "hw/device_config.hpp"
#include "plugin_fixture.hpp"

using namespace zbphw;

namespace {

const char* device_path() { return ZBPHW_SOURCE_DIR "/configs/devices/default.json"; }

std::unique_ptr<PluginBlock> attached(const std::string& kind, const BlockRequest& request, const char* isolation,
                                      const std::string& device = device_path()) {
  const Json plugin = {
      {"library", ZBPHW_SIMULATOR_PLUGIN}, {"isolation", isolation}, {"options", {{"device", device}}}};
  return std::make_unique<PluginBlock>(kind, plugin_section(plugin), request);
}

void check_equal(const PhysicalBlock& a, const PhysicalBlock& b) {
  CHECK(meter_to_json(a.meter()) == meter_to_json(b.meter()));
  CHECK(a.clock_s() == b.clock_s());
}

void check_equal_queries(PhysicalBlock& a, PhysicalBlock& b, std::int64_t rows) {
  QueryBatch batch = batch_of(2 * waves(rows, a.spec().input_width));
  batch.slot.step = 3;
  batch.slot.block = 2;
  batch.slot.first_row = 5;
  for (int k = 0; k < 3; ++k) {
    const Readout x = a.query(batch);
    const Readout y = b.query(batch);
    CHECK(x.values.equal(y.values));
    CHECK(x.applied.equal(y.applied));
    batch.slot.step += 1;
  }
  batch.range_point = waves(rows, a.spec().input_width, 1);
  batch.range_margin = 0.5;
  batch.slot.queries_per_row = 4;
  batch.slot.query_in_row = 3;
  batch.slot.start_s = 0.01;
  CHECK(a.query(batch).values.equal(b.query(batch).values));
  CHECK(a.dac_step(batch.range_point, 0.5, 5).equal(b.dac_step(batch.range_point, 0.5, 5)));
  CHECK(a.readout_noise(batch.range_point, 0.5, 5).equal(b.readout_noise(batch.range_point, 0.5, 5)));
  check_equal(a, b);
}

void check_equal_probes(PhysicalBlock& a, PhysicalBlock& b, std::int64_t rows) {
  ProbeRequest request;
  request.point = waves(rows, a.spec().input_width);
  request.cotangent = waves(rows, a.spec().output_width, 2);
  request.probes = 7;
  request.amplitude = 0.4;
  request.seed = 11;
  request.slot.step = 8;
  request.slot.first_row = 2;
  const ProbeReadout x = a.probe(request);
  const ProbeReadout y = b.probe(request);
  CHECK(x.responses.equal(y.responses));
  CHECK(x.estimate.equal(y.estimate));
  CHECK(probe_by_queries(a, request).estimate.equal(probe_by_queries(b, request).estimate));
  check_equal(a, b);
}

}  // namespace

TEST_CASE("the exported simulator gives the built-in activation blocks bit for bit") {
  const DeviceConfig device = load_device(device_path());
  for (const char* isolation : {"process", "none"}) {
    for (const std::string kind : {"softmax", "swiglu"}) {
      BlockRequest request = wide(12, kind == "softmax" ? 12 : 0);
      request.seed = 77;
      const auto built_in = make_block(kind, device.block(kind), request);
      const auto plugin = attached(kind, request, isolation);
      INFO(kind << ", isolation " << isolation);
      check_equal_queries(*built_in, *plugin, 24);
      check_equal_probes(*built_in, *plugin, 24);
      // Another seed is another chip.
      request.seed = 78;
      const auto other = attached(kind, request, isolation);
      const at::Tensor inputs = waves(4, built_in->spec().input_width);
      CHECK_FALSE(built_in->query(batch_of(inputs)).values.equal(other->query(batch_of(inputs)).values));
    }
  }
}

TEST_CASE("the exported simulator gives the built-in crossbar bit for bit, programming and drift included") {
  const std::string path = ZBPHW_SOURCE_DIR "/configs/devices/pcm_crossbar.json";
  CrossbarRequest request;
  request.inputs = 40;
  request.outputs = 24;
  request.seed = 5;
  const at::Tensor weights = waves(24, 40);
  for (const char* isolation : {"process", "none"}) {
    CrossbarLinear built_in(*load_device(path).crossbar, request);
    BlockRequest same = wide(24);
    same.input_width = 40;
    same.seed = 5;
    const auto plugin = attached("crossbar_linear", same, isolation, path);
    CHECK(plugin->spec().locality == Locality::dense);
    built_in.program(weights);
    plugin->program(weights);
    check_equal(built_in, *plugin);
    check_equal_queries(built_in, *plugin, 9);
    Meter meter = built_in.meter();
    meter.queries += 1;
    built_in.resume_at(3600, meter);  // an hour later
    plugin->resume_at(3600, meter);
    check_equal_queries(built_in, *plugin, 9);
  }
}

TEST_CASE("a resumed block of the exported simulator goes on as the built-in one") {
  const DeviceConfig device = load_device(device_path());
  const auto built_in = make_block("swiglu", device.block("swiglu"), wide(6));
  built_in->query(batch_of(waves(10, 12)));
  const auto plugin = attached("swiglu", wide(6), "process");
  plugin->resume_at(built_in->clock_s(), built_in->meter());
  check_equal(*built_in, *plugin);
  check_equal_queries(*built_in, *plugin, 10);
}

TEST_CASE("the exported simulator tells what it cannot do") {
  CHECK_THROWS_WITH(attached("crossbar_linear", wide(4), "process"), Catch::Contains("has no crossbar"));
  const Json plugin = {{"library", ZBPHW_SIMULATOR_PLUGIN}};
  CHECK_THROWS_WITH(PluginBlock("swiglu", plugin_section(plugin), wide(4)),
                    Catch::Contains("bad request (status 3): options: has no \"device\""));
}
