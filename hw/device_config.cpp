#include "hw/device_config.hpp"

#include <filesystem>

#include "base/config_kind.hpp"
#include "base/config_path.hpp"
#include "device_models/cells/make_cell.hpp"
#include "hw/block_registry.hpp"
#include "hw/plugin/plugin_config.hpp"

namespace zbphw {
namespace {

const Registry<BlockKind>& block_kinds() { return Registry<BlockKind>::instance(); }

// A path has a directory or an ending; a bare name has neither.
bool is_bare_name(const std::string& device) {
  return device.find('/') == std::string::npos && device.find('.') == std::string::npos;
}

const Registration<ConfigKind> registered("device",
                                          {"an analog device: its blocks, converters, noise, drift, time and energy",
                                           [](const Json& json, const std::string& where) {
                                             return write_config(read_device(json, where));
                                           },
                                           explain_device});

}  // namespace

RawConfig DeviceConfig::block(const std::string& block_name) const {
  const auto found = blocks.value.find(block_name);
  if (found != blocks.value.end()) return {*found, blocks.where + "." + block_name};
  std::vector<std::string> names;
  for (const auto& item : blocks.value.items()) names.push_back(item.key());
  throw config_error(blocks.where, "the device has no block '" + block_name + "'" + did_you_mean(block_name, names) +
                                       (names.empty() ? "; it has none" : "; it has " + join_choices(names)));
}

void describe(Fields& f, DeviceConfig& c) {
  f.required().text("name", c.name, "short name, as results show it");
  f.text("description", c.description, "one sentence about the device");
  f.text("source", c.source, "where the device as a whole is from");
  f.raw("blocks", c.blocks, "analog activation blocks by name, each with its own keys");
  f.optional_object("crossbar", c.crossbar, "arrays of memory cells that hold a matrix");
}

DeviceConfig read_device(const Json& json, const std::string& where, const std::string& folder) {
  DeviceConfig device = read_config<DeviceConfig>(json, where);
  if (device.blocks.where.empty()) device.blocks.where = where + ".blocks";
  if (!device.blocks.value.is_object()) {
    throw config_error(device.blocks.where, "got " + device.blocks.value.dump() + "; allowed: an object");
  }
  for (auto& item : device.blocks.value.items()) {
    item.value() = check_block(item.key(), {item.value(), device.blocks.where + "." + item.key()}, folder);
  }
  if (device.crossbar) device.crossbar->cell.value = make_cell(device.crossbar->cell)->config();
  return device;
}

DeviceConfig load_device(const std::string& device, const std::vector<std::string>& overrides) {
  const std::string path = is_bare_name(device) ? find_preset("devices", device, "--device") : device;
  const KindedFile file = load_kinded_file("device", path, overrides);
  // Absolute: the configuration may be used from elsewhere.
  return read_device(file.json, file.where, std::filesystem::absolute(path).parent_path().string());
}

std::vector<FieldRow> explain_device() {
  std::vector<FieldRow> rows = explain_config<DeviceConfig>();
  for (const std::string& name : block_kinds().names()) {
    for (FieldRow row : block_kinds().at(name, "block", "").explain()) {
      row.path = "blocks." + name + "." + row.path;
      rows.push_back(row);
    }
  }
  for (FieldRow row : explain_plugin()) {
    row.path = "blocks.*." + row.path;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace zbphw
