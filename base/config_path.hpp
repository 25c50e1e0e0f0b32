// Where shipped and own configuration files are found by name.
//
// The directories searched, in order: those of the environment variable ZBPHW_CONFIG_PATH (separated by colons), then
// the configs/ directory of the source tree. A preset is one file, <directory>/<kind>/<name>.json: a complete set of
// constants with a "source". A user's own preset is a file of the same kind in a directory of ZBPHW_CONFIG_PATH.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace zbphw {

// The directories in search order, whether they exist or not.
std::vector<std::string> config_directories();

// The names that find_preset() knows for a kind ("devices/presets"), sorted, each once.
std::vector<std::string> preset_names(const std::string& kind);

// The path of the first file that has the name. Throws a config Error at `where` with the nearest name and the list.
std::string find_preset(const std::string& kind, const std::string& name, const std::string& where);

// A JSON object whose "preset" names a file, replaced by that file's content with the keys beside "preset" laid over
// it: objects are merged key by key, anything else is replaced. `where` gets the file's name for later errors.
// Without "preset" nothing changes. Throws a config Error when `json` is no object or the preset is not found.
Json expand_preset(const Json& json, const std::string& kind, std::string& where);

}  // namespace zbphw
