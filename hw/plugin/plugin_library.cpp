#include "hw/plugin/plugin_library.hpp"

#include <dlfcn.h>

#include <functional>
#include <map>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr const char* entry_symbol = "zbphw_plugin_v1";

Json error_answer(const std::string& message) { return {{"error", message}}; }

// A text of the plugin's as a JSON object, or {"error": ...}.
Json parsed(const char* text, const char* function) {
  if (text == nullptr) return error_answer(std::string(function) + "() returned a null pointer");
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) return error_answer(std::string(function) + "() returned what is no JSON object: " + text);
  return json;
}

const char* status_name(int status) {
  switch (status) {
    case ZBPHW_FAILED:
      return "failed";
    case ZBPHW_UNSUPPORTED:
      return "unsupported";
    case ZBPHW_BAD_REQUEST:
      return "bad request";
    default:
      return "a status that the interface does not have";
  }
}

zbphw_slot slot_of(const Json& header) {
  zbphw_slot slot{};
  slot.step = header.at("step").get<std::uint32_t>();
  slot.block = header.at("block").get<std::uint32_t>();
  slot.first_row = header.at("first_row").get<std::uint32_t>();
  slot.queries_per_row = header.at("queries_per_row").get<std::uint32_t>();
  slot.query_in_row = header.at("query_in_row").get<std::uint32_t>();
  slot.start_s = header.at("start_s").get<double>();
  return slot;
}

zbphw_batch batch_of(const ChipCall& call) {
  zbphw_batch batch{};
  batch.struct_size = sizeof batch;
  batch.slot = slot_of(call.header);
  batch.rows = call.header.at("rows").get<std::int64_t>();
  batch.range_margin = call.header.at("range_margin").get<double>();
  batch.inputs = call.sent.at(0).data;
  batch.range_point = call.sent.at(1).data;
  if (call.sent.size() > 2) batch.nudge = call.sent[2].data;
  return batch;
}

zbphw_readout readout_of(const ChipCall& call) {
  zbphw_readout readout{};
  readout.struct_size = sizeof readout;
  readout.values = call.wanted.at(0).data;
  readout.applied = call.wanted.at(1).data;
  return readout;
}

Json totals_json(const zbphw_totals& t) {
  return {{"clock_s", t.clock_s},
          {"temperature_k", t.temperature_k},
          {"queries", t.queries},
          {"dac_conversions", t.dac_conversions},
          {"adc_conversions", t.adc_conversions},
          {"saturated_inputs", t.saturated_inputs},
          {"saturated_outputs", t.saturated_outputs},
          {"busy_s", t.busy_s},
          {"energy_j", {t.link_j, t.dac_j, t.array_j, t.adc_j, t.digital_j, t.programming_j}}};
}

zbphw_totals totals_of(const Json& json) {
  zbphw_totals t{};
  t.struct_size = sizeof t;
  t.clock_s = json.at("clock_s").get<double>();
  t.queries = json.at("queries").get<std::int64_t>();
  t.dac_conversions = json.at("dac_conversions").get<std::int64_t>();
  t.adc_conversions = json.at("adc_conversions").get<std::int64_t>();
  t.saturated_inputs = json.at("saturated_inputs").get<std::int64_t>();
  t.saturated_outputs = json.at("saturated_outputs").get<std::int64_t>();
  t.busy_s = json.at("busy_s").get<double>();
  const Json& e = json.at("energy_j");
  t.link_j = e.at(0).get<double>();
  t.dac_j = e.at(1).get<double>();
  t.array_j = e.at(2).get<double>();
  t.adc_j = e.at(3).get<double>();
  t.digital_j = e.at(4).get<double>();
  t.programming_j = e.at(5).get<double>();
  return t;
}

// The functions that a library may leave out, by the name of their operation.
Json optional_functions(const zbphw_plugin& table) {
  Json can = Json::array();
  if (table.program != nullptr) can.push_back("program");
  if (table.settle != nullptr) can.push_back("settle");
  if (table.probe != nullptr) can.push_back("probe");
  if (table.ports != nullptr) can.push_back("ports");
  if (table.totals != nullptr) can.push_back("totals");
  if (table.resume != nullptr) can.push_back("resume");
  return can;
}

void check_table(const zbphw_plugin* table, const std::string& path) {
  if (table == nullptr) throw device_error(path, std::string(entry_symbol) + "() returned a null pointer");
  if (table->version != ZBPHW_PLUGIN_VERSION) {
    throw device_error(path, "speaks version " + std::to_string(table->version) +
                                 " of the plugin interface; this zbphw speaks version " +
                                 std::to_string(ZBPHW_PLUGIN_VERSION));
  }
  if (table->struct_size != sizeof(zbphw_plugin)) {
    throw device_error(path, "has a table of " + std::to_string(table->struct_size) + " bytes; version " +
                                 std::to_string(ZBPHW_PLUGIN_VERSION) + " has " + std::to_string(sizeof(zbphw_plugin)));
  }
  const bool complete = table->describe_library != nullptr && table->open != nullptr && table->describe != nullptr &&
                        table->last_error != nullptr && table->query != nullptr && table->close != nullptr;
  if (!complete) {
    throw device_error(path,
                       "lacks one of the functions that every plugin has: describe_library, open, describe, "
                       "last_error, query, close");
  }
}

}  // namespace

PluginLibrary::PluginLibrary(const std::string& path) {
  handle_ = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle_ == nullptr) {
    const char* reason = dlerror();
    throw device_error(path, std::string("cannot be loaded: ") + (reason != nullptr ? reason : "no reason given"));
  }
  // POSIX says that a symbol's address may be taken as a function's.
  const auto entry = reinterpret_cast<decltype(&zbphw_plugin_v1)>(dlsym(handle_, entry_symbol));
  try {
    if (entry == nullptr) throw device_error(path, std::string("has no symbol ") + entry_symbol);
    table_ = entry();
    check_table(table_, path);
  } catch (...) {
    dlclose(handle_);
    throw;
  }
}

PluginLibrary::~PluginLibrary() {
  for (zbphw_chip* chip : chips_) {
    if (chip != nullptr) table_->close(chip);
  }
  dlclose(handle_);
}

Json PluginLibrary::call(const ChipCall& call, double) {
  const std::string op = call.header.at("op").get<std::string>();
  if (op == "hello") return hello();
  if (op == "open") return open(call);
  const auto number = call.header.at("chip").get<std::size_t>();
  if (number >= chips_.size() || chips_[number] == nullptr) return error_answer("chip is not open");
  zbphw_chip* chip = chips_[number];
  if (op == "query") return query(chip, call);
  if (op == "settle" && table_->settle != nullptr) return settle(chip, call);
  if (op == "probe" && table_->probe != nullptr) return probe(chip, call);
  if (op == "ports" && table_->ports != nullptr) return ports(chip, call);
  if (op == "program" && table_->program != nullptr) return program(chip, call);
  if (op == "resume" && table_->resume != nullptr) return resume(chip, call);
  if (op == "close") return close(number);
  return error_answer("the plugin has no function for \"" + op + "\"");
}

Json PluginLibrary::hello() {
  Json answer = parsed(table_->describe_library(), "describe_library");
  answer["version"] = table_->version;
  answer["can"] = optional_functions(*table_);
  return answer;
}

Json PluginLibrary::open(const ChipCall& call) {
  const Json& header = call.header;
  const std::string kind = header.at("kind").get<std::string>();
  const std::string options = header.at("options").dump();
  zbphw_open_request request{};
  request.struct_size = sizeof request;
  request.threads = header.at("threads").get<std::uint32_t>();
  request.block = kind.c_str();
  request.input_width = header.at("input_width").get<std::int64_t>();
  request.output_width = header.at("output_width").get<std::int64_t>();
  request.causal_period = header.at("causal_period").get<std::int64_t>();
  request.seed = header.at("seed").get<std::uint64_t>();
  request.options_json = options.c_str();
  zbphw_chip* chip = nullptr;
  const int status = table_->open(&request, &chip);
  if (status != ZBPHW_OK) return failure(nullptr, status);
  if (chip == nullptr) return error_answer("open() succeeded without a chip");
  chips_.push_back(chip);
  Json answer = {{"chip", chips_.size() - 1}, {"description", parsed(table_->describe(chip), "describe")}};
  const Json& description = answer["description"];
  if (description.contains("error")) return description;
  add_totals(chip, answer);
  return answer;
}

Json PluginLibrary::query(zbphw_chip* chip, const ChipCall& call) {
  const zbphw_batch batch = batch_of(call);
  zbphw_readout readout = readout_of(call);
  const int status = table_->query(chip, &batch, &readout);
  return answer_of(chip, status, {readout.values_written, readout.applied_written});
}

Json PluginLibrary::settle(zbphw_chip* chip, const ChipCall& call) {
  const zbphw_batch batch = batch_of(call);
  zbphw_readout readout = readout_of(call);
  const int status = table_->settle(chip, &batch, &readout);
  return answer_of(chip, status, {readout.values_written, readout.applied_written});
}

Json PluginLibrary::probe(zbphw_chip* chip, const ChipCall& call) {
  zbphw_probe probe{};
  probe.struct_size = sizeof probe;
  probe.slot = slot_of(call.header);
  probe.rows = call.header.at("rows").get<std::int64_t>();
  probe.point = call.sent.at(0).data;
  probe.cotangent = call.sent.at(1).data;
  probe.probes = call.header.at("probes").get<std::int64_t>();
  probe.amplitude = call.header.at("amplitude").get<double>();
  probe.seed = call.header.at("seed").get<std::uint64_t>();
  zbphw_probe_readout readout{};
  readout.struct_size = sizeof readout;
  readout.responses = call.wanted.at(0).data;
  readout.estimate = call.wanted.at(1).data;
  const int status = table_->probe(chip, &probe, &readout);
  return answer_of(chip, status, {readout.responses_written, readout.estimate_written});
}

Json PluginLibrary::ports(zbphw_chip* chip, const ChipCall& call) {
  zbphw_ports ports{};
  ports.struct_size = sizeof ports;
  ports.first_row = call.header.at("first_row").get<std::uint32_t>();
  ports.rows = call.header.at("rows").get<std::int64_t>();
  ports.range_point = call.sent.at(0).data;
  ports.range_margin = call.header.at("range_margin").get<double>();
  ports.dac_step = call.wanted.at(0).data;
  ports.readout_noise = call.wanted.at(1).data;
  const int status = table_->ports(chip, &ports);
  return answer_of(chip, status, {ports.dac_step_written, ports.readout_noise_written});
}

Json PluginLibrary::program(zbphw_chip* chip, const ChipCall& call) {
  zbphw_weights weights{};
  weights.struct_size = sizeof weights;
  weights.outputs = call.header.at("outputs").get<std::int64_t>();
  weights.inputs = call.header.at("inputs").get<std::int64_t>();
  weights.values = call.sent.at(0).data;
  return answer_of(chip, table_->program(chip, &weights), {});
}

Json PluginLibrary::resume(zbphw_chip* chip, const ChipCall& call) {
  const zbphw_totals totals = totals_of(call.header.at("totals"));
  return answer_of(chip, table_->resume(chip, &totals), {});
}

Json PluginLibrary::close(std::size_t number) {
  table_->close(chips_[number]);
  chips_[number] = nullptr;
  return Json::object();
}

Json PluginLibrary::answer_of(zbphw_chip* chip, int status, const std::vector<std::int64_t>& written) {
  if (status != ZBPHW_OK) return failure(chip, status);
  Json answer = {{"written", written}};
  add_totals(chip, answer);
  return answer;
}

Json PluginLibrary::failure(zbphw_chip* chip, int status) const {
  const char* reason = table_->last_error(chip);
  return error_answer(std::string(status_name(status)) + " (status " + std::to_string(status) +
                      "): " + (reason != nullptr ? reason : "no reason given"));
}

void PluginLibrary::add_totals(zbphw_chip* chip, Json& answer) const {
  if (table_->totals == nullptr) return;
  zbphw_totals totals{};
  totals.struct_size = sizeof totals;
  const int status = table_->totals(chip, &totals);
  if (status != ZBPHW_OK) {
    answer = failure(chip, status);
    return;
  }
  answer["totals"] = totals_json(totals);
}

}  // namespace zbphw
