#include "base/config_kind.hpp"

namespace zbphw {

std::string take_kind(Json& json, const std::string& where) {
  if (!json.is_object() || !json.contains("kind")) return "";
  const Json kind = json.at("kind");
  if (!kind.is_string()) throw config_error(where + ".kind", "got " + kind.dump() + "; allowed: a text");
  json.erase("kind");
  return kind.get<std::string>();
}

Json with_kind(const std::string& kind, const Json& config) {
  Json result = Json::object();
  result["kind"] = kind;
  for (const auto& [key, value] : config.items()) result[key] = value;
  return result;
}

KindedFile load_kinded_file(const std::string& kind, const std::string& path,
                            const std::vector<std::string>& overrides) {
  KindedFile file{kind, load_json_file(path), path + (overrides.empty() ? "" : " (with --set)") + ": $"};
  for (const std::string& assignment : overrides) apply_override(file.json, assignment);
  const std::string found = take_kind(file.json, file.where);
  if (!kind.empty() && !found.empty() && found != kind) {
    throw config_error(file.where + ".kind", "got \"" + found + "\"; allowed here: \"" + kind + "\"");
  }
  if (!found.empty()) file.kind = found;
  return file;
}

}  // namespace zbphw
