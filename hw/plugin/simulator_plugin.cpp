// Our simulator behind the plugin interface: libzbphw_simulator_plugin.so.
//
// For whoever writes a plugin, a complete one to read; for us, the proof that the interface loses nothing: what it
// answers equals the built-in blocks bit for bit. "options": {"device": a device file's name or path, or the object
// itself}.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <exception>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "hw/block_registry.hpp"
#include "hw/crossbar/crossbar_linear.hpp"
#include "hw/device_config.hpp"
#include "hw/plugin/zbphw_plugin.h"

// One opened block.
struct zbphw_chip {
  std::unique_ptr<zbphw::PhysicalBlock> block;
  std::string description;  // JSON
  std::string error;
};

namespace zbphw {
namespace {

constexpr const char* crossbar_kind = "crossbar_linear";

// Why the last open() of this thread failed: there is no chip yet that could hold it.
std::string& open_error() {
  thread_local std::string error;
  return error;
}

// Runs `body`; no exception leaves the library.
template <class Body>
int guarded(std::string& error, const Body& body) {
  try {
    body();
    return ZBPHW_OK;
  } catch (const Error& e) {
    error = e.what();
    return e.kind() == ErrorKind::config ? ZBPHW_BAD_REQUEST : ZBPHW_FAILED;
  } catch (const std::exception& e) {
    error = e.what();
  } catch (...) {
    error = "an exception of an unknown type";
  }
  return ZBPHW_FAILED;
}

at::Tensor matrix(const float* values, std::int64_t rows, std::int64_t width) {
  at::Tensor result = at::empty({rows, width}, at::kFloat);
  std::copy(values, values + rows * width, result.data_ptr<float>());
  return result;
}

std::int64_t copy_out(const at::Tensor& tensor, float* out) {
  const at::Tensor values = tensor.to(at::kFloat).contiguous();
  std::copy(values.data_ptr<float>(), values.data_ptr<float>() + values.numel(), out);
  return values.numel();
}

QuerySlot slot_of(const zbphw_slot& s) {
  QuerySlot slot;
  slot.step = s.step;
  slot.block = s.block;
  slot.first_row = s.first_row;
  slot.queries_per_row = s.queries_per_row;
  slot.query_in_row = s.query_in_row;
  slot.start_s = s.start_s;
  return slot;
}

const char* text_of(Locality locality) {
  switch (locality) {
    case Locality::elementwise:
      return "elementwise";
    case Locality::row:
      return "row";
    case Locality::dense:
      return "dense";
  }
  return "row";
}

DeviceConfig device_of(const Json& options) {
  const auto found = options.find("device");
  if (found == options.end()) throw config_error("options", "has no \"device\"; allowed: a device file or its name");
  if (found->is_string()) return load_device(found->get<std::string>());
  return read_device(*found, "options.device");
}

void open_block(const zbphw_open_request& request, zbphw_chip& chip) {
  at::set_num_threads(static_cast<int>(request.threads));
  const DeviceConfig device = device_of(Json::parse(request.options_json));
  const std::string kind = request.block;
  Json description;
  if (kind == crossbar_kind) {
    if (!device.crossbar) throw config_error(device.name, "has no crossbar");
    CrossbarRequest wanted;
    wanted.inputs = request.input_width;
    wanted.outputs = request.output_width;
    wanted.seed = request.seed;
    chip.block = std::make_unique<CrossbarLinear>(*device.crossbar, wanted);
    description["dac"] = write_config(device.crossbar->dac);
    description["adc"] = write_config(device.crossbar->adc);
  } else {
    BlockRequest wanted;
    wanted.output_width = request.output_width;
    wanted.causal_period = request.causal_period;
    wanted.seed = request.seed;
    const RawConfig section = device.block(kind);
    chip.block = make_block(kind, section, wanted);
    description["dac"] = section.value.at("dac");
    description["adc"] = section.value.at("adc");
  }
  const BlockSpec& spec = chip.block->spec();
  description["input_width"] = spec.input_width;
  description["output_width"] = spec.output_width;
  description["locality"] = text_of(spec.locality);
  description["holds_weights"] = kind == crossbar_kind;
  chip.description = description.dump();
}

const char* describe_library() {
  return R"({"name": "zbphw simulator", "blocks": ["softmax", "swiglu", "crossbar_linear"]})";
}

int open(const zbphw_open_request* request, zbphw_chip** chip) {
  return guarded(open_error(), [&] {
    auto fresh = std::make_unique<zbphw_chip>();
    open_block(*request, *fresh);
    *chip = fresh.release();
  });
}

const char* describe(zbphw_chip* chip) { return chip->description.c_str(); }

const char* last_error(zbphw_chip* chip) { return chip == nullptr ? open_error().c_str() : chip->error.c_str(); }

int query(zbphw_chip* chip, const zbphw_batch* b, zbphw_readout* out) {
  return guarded(chip->error, [&] {
    const std::int64_t width = chip->block->spec().input_width;
    QueryBatch batch;
    batch.inputs = matrix(b->inputs, b->rows, width);
    batch.slot = slot_of(b->slot);
    if (b->range_point != nullptr) batch.range_point = matrix(b->range_point, b->rows, width);
    batch.range_margin = b->range_margin;
    const Readout readout = chip->block->query(batch);
    out->values_written = copy_out(readout.values, out->values);
    out->applied_written = copy_out(readout.applied, out->applied);
  });
}

int probe(zbphw_chip* chip, const zbphw_probe* p, zbphw_probe_readout* out) {
  return guarded(chip->error, [&] {
    const BlockSpec& spec = chip->block->spec();
    ProbeRequest request;
    request.point = matrix(p->point, p->rows, spec.input_width);
    request.cotangent = matrix(p->cotangent, p->rows, spec.output_width);
    request.probes = p->probes;
    request.amplitude = p->amplitude;
    request.seed = p->seed;
    request.slot = slot_of(p->slot);
    const ProbeReadout readout = chip->block->probe(request);
    out->responses_written = copy_out(readout.responses, out->responses);
    out->estimate_written = copy_out(readout.estimate, out->estimate);
  });
}

int ports(zbphw_chip* chip, zbphw_ports* p) {
  return guarded(chip->error, [&] {
    const at::Tensor point = matrix(p->range_point, p->rows, chip->block->spec().input_width);
    p->dac_step_written = copy_out(chip->block->dac_step(point, p->range_margin, p->first_row), p->dac_step);
    p->readout_noise_written =
        copy_out(chip->block->readout_noise(point, p->range_margin, p->first_row), p->readout_noise);
  });
}

int program(zbphw_chip* chip, const zbphw_weights* weights) {
  return guarded(chip->error,
                 [&] { chip->block->program(matrix(weights->values, weights->outputs, weights->inputs)); });
}

int totals(zbphw_chip* chip, zbphw_totals* out) {
  const Meter& meter = chip->block->meter();
  out->clock_s = chip->block->clock_s();
  out->queries = meter.queries;
  out->dac_conversions = meter.dac_conversions;
  out->adc_conversions = meter.adc_conversions;
  out->saturated_inputs = meter.saturated_inputs;
  out->saturated_outputs = meter.saturated_outputs;
  out->busy_s = meter.busy_s;
  out->link_j = meter.energy.link_j;
  out->dac_j = meter.energy.dac_j;
  out->array_j = meter.energy.array_j;
  out->adc_j = meter.energy.adc_j;
  out->digital_j = meter.energy.digital_j;
  out->programming_j = meter.energy.programming_j;
  return ZBPHW_OK;
}

int resume(zbphw_chip* chip, const zbphw_totals* t) {
  return guarded(chip->error, [&] {
    Meter meter;
    meter.queries = t->queries;
    meter.dac_conversions = t->dac_conversions;
    meter.adc_conversions = t->adc_conversions;
    meter.saturated_inputs = t->saturated_inputs;
    meter.saturated_outputs = t->saturated_outputs;
    meter.busy_s = t->busy_s;
    meter.energy = {t->link_j, t->dac_j, t->array_j, t->adc_j, t->digital_j, t->programming_j};
    chip->block->resume_at(t->clock_s, meter);
  });
}

void close(zbphw_chip* chip) { delete chip; }

constexpr zbphw_plugin make_table() {
  zbphw_plugin table{};
  table.version = ZBPHW_PLUGIN_VERSION;
  table.struct_size = sizeof table;
  table.describe_library = describe_library;
  table.open = open;
  table.describe = describe;
  table.last_error = last_error;
  table.query = query;
  table.close = close;
  table.program = program;
  table.probe = probe;
  table.ports = ports;
  table.totals = totals;
  table.resume = resume;
  return table;
}

constexpr zbphw_plugin table = make_table();

}  // namespace
}  // namespace zbphw

extern "C" [[gnu::visibility("default")]] const zbphw_plugin* zbphw_plugin_v1() { return &zbphw::table; }
