// The device file: what one simulated analog chip is made of.
//
//     {"kind": "device", "name": "...", "description": "...", "source": "...",
//      "blocks": {"softmax": {...}, "swiglu": {...}}, "crossbar": {...}}
//
// Every key of "blocks" is a block of hw/block_registry.hpp and its value is that block's own configuration, or names
// the plugin of a chip that is attached (hw/plugin/plugin_config.hpp; its blocks may have any name). All of them are
// read once when the file is read, so that a mistake surfaces before anything is built.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "hw/crossbar/crossbar_config.hpp"

namespace zbphw {

struct DeviceConfig {
  std::string name;
  std::string description;
  std::string source = "not stated";
  RawConfig blocks;
  std::optional<CrossbarConfig> crossbar;

  // The configuration of one block, as make_block() takes it. Throws a config Error that names the blocks there are.
  RawConfig block(const std::string& block_name) const;
};
void describe(Fields& f, DeviceConfig& c);

// Reads a device file's JSON, its "kind" taken off; the blocks' sections are checked and completed with their defaults.
// `folder`: where plugins are looked for that do not say it themselves. Throws a config Error.
DeviceConfig read_device(const Json& json, const std::string& where, const std::string& folder = "");

// `device` is a file's path, or the bare name of a file in a devices/ directory of base/config_path.hpp ("default").
// `overrides` as in apply_override(). Throws a config Error.
DeviceConfig load_device(const std::string& device, const std::vector<std::string>& overrides = {});

// Keys, units, defaults and ranges of a device file with every block that exists.
std::vector<FieldRow> explain_device();

}  // namespace zbphw
