// JSON files in, with errors that name the file, the line and what to do.
#pragma once

#include <string>
#include <vector>

#include "base/fields.hpp"

namespace zbphw {

// Throws a config Error when the file is missing, a directory, empty, not JSON (line and column named), or repeats a
// key of an object.
Json load_json_file(const std::string& path);

// Sets one value in a JSON tree: "adc.bits=6", "data.path=/tmp/a.txt". The value is read as JSON when it is JSON and as
// a text otherwise; objects on the way are made. Throws a usage Error when there is no '=' or no path.
void apply_override(Json& json, const std::string& assignment);

// Reads a whole configuration file, overrides applied. Throws a config Error.
template <class T>
T load_config(const std::string& path, const std::vector<std::string>& overrides = {}) {
  Json json = load_json_file(path);
  for (const std::string& assignment : overrides) apply_override(json, assignment);
  const std::string changed = overrides.empty() ? "" : " (with --set)";
  return read_config<T>(json, path + changed + ": $");
}

}  // namespace zbphw
