#include "base/config_path.hpp"

#include <cstdlib>
#include <filesystem>
#include <set>

#include "base/config_file.hpp"
#include "base/error.hpp"
#include "base/nearest_name.hpp"

namespace zbphw {
namespace {

void overlay(Json& target, const Json& changes) {
  for (const auto& item : changes.items()) {
    Json& value = target[item.key()];
    if (value.is_object() && item.value().is_object()) {
      overlay(value, item.value());
    } else {
      value = item.value();
    }
  }
}

}  // namespace

std::vector<std::string> config_directories() {
  std::vector<std::string> directories;
  const char* variable = std::getenv("ZBPHW_CONFIG_PATH");
  std::string rest = variable == nullptr ? "" : variable;
  while (!rest.empty()) {
    const std::size_t colon = rest.find(':');
    const std::string directory = rest.substr(0, colon);
    if (!directory.empty()) directories.push_back(directory);
    rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
  }
  directories.emplace_back(ZBPHW_CONFIG_DIR);
  return directories;
}

std::vector<std::string> preset_names(const std::string& kind) {
  std::set<std::string> names;
  for (const std::string& directory : config_directories()) {
    std::error_code unreadable;
    for (const auto& entry : std::filesystem::directory_iterator(directory + "/" + kind, unreadable)) {
      if (entry.path().extension() == ".json") names.insert(entry.path().stem().string());
    }
  }
  return {names.begin(), names.end()};
}

std::string find_preset(const std::string& kind, const std::string& name, const std::string& where) {
  const std::vector<std::string> names = preset_names(kind);
  // Only a listed name is looked for, so that a name never leads out of the preset directories.
  for (const std::string& known : names) {
    if (known != name) continue;
    for (const std::string& directory : config_directories()) {
      const std::string path = directory + "/" + kind + "/" + name + ".json";
      if (std::filesystem::is_regular_file(path)) return path;
    }
  }
  const std::string listed = names.empty() ? "no presets were found" : "known: " + join_choices(names);
  std::string searched;
  for (const std::string& directory : config_directories()) searched += " " + directory + "/" + kind;
  throw config_error(where, "unknown preset '" + name + "'" + did_you_mean(name, names) + " (" + listed + "; searched" +
                                searched + ")");
}

Json expand_preset(const Json& json, const std::string& kind, std::string& where) {
  if (!json.is_object()) throw config_error(where, "allowed: an object");
  const auto preset = json.find("preset");
  if (preset == json.end()) return json;
  if (!preset->is_string()) throw config_error(where + ".preset", "got " + preset->dump() + "; allowed: a text");
  const std::string path = find_preset(kind, preset->get<std::string>(), where + ".preset");
  Json result = load_json_file(path);
  if (!result.is_object()) throw config_error(path, "allowed: an object");
  Json changes = json;
  changes.erase("preset");
  overlay(result, changes);
  where += " (preset " + path + ")";
  return result;
}

}  // namespace zbphw
