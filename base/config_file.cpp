#include "base/config_file.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>

namespace zbphw {
namespace {

std::string read_whole_file(const std::string& path) {
  if (std::filesystem::is_directory(path)) throw config_error(path, "is a directory; a JSON file is needed");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw config_error(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  if (in.bad()) throw config_error(path, "cannot be read");
  return text;
}

std::string line_and_column(const std::string& text, std::size_t byte) {
  const std::size_t end = std::min(byte, text.size());
  const auto line = std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(end), '\n') + 1;
  const std::size_t line_start = end == 0 ? std::string::npos : text.rfind('\n', end - 1);
  const std::size_t column = line_start == std::string::npos ? end : end - line_start - 1;
  return "line " + std::to_string(line) + ", column " + std::to_string(std::max<std::size_t>(column, 1));
}

// nlohmann keeps the last of two equal keys in silence; a user who wrote both meant one of them.
Json parse_without_repeated_keys(const std::string& text, const std::string& path) {
  std::vector<std::set<std::string>> open_objects;
  const Json::parser_callback_t watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) open_objects.emplace_back();
    if (event == Json::parse_event_t::object_end) open_objects.pop_back();
    if (event == Json::parse_event_t::key && !open_objects.back().insert(parsed.get<std::string>()).second) {
      throw config_error(path, "key '" + parsed.get<std::string>() + "' stands twice in one object");
    }
    return true;
  };
  return Json::parse(text, watch);
}

}  // namespace

Json load_json_file(const std::string& path) {
  const std::string text = read_whole_file(path);
  if (text.find_first_not_of(" \t\r\n") == std::string::npos) throw config_error(path, "is empty; JSON is needed");
  try {
    return parse_without_repeated_keys(text, path);
  } catch (const Json::parse_error& error) {
    const bool truncated = error.byte > text.size();
    throw config_error(path + ": " + line_and_column(text, error.byte),
                       truncated ? "the file ends in the middle of the JSON" : "is not valid JSON here");
  }
}

void apply_override(Json& json, const std::string& assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw usage_error("--set " + assignment + ": expected path=value, for example adc.bits=6");
  }
  Json* target = &json;
  std::string path = assignment.substr(0, equals);
  for (std::size_t dot = path.find('.'); dot != std::string::npos; dot = path.find('.')) {
    target = &(*target)[path.substr(0, dot)];
    if (!target->is_object() && !target->is_null()) {
      throw usage_error("--set " + assignment + ": '" + path.substr(0, dot) + "' holds no keys");
    }
    path = path.substr(dot + 1);
  }
  const std::string text = assignment.substr(equals + 1);
  Json value = Json::parse(text, nullptr, false);
  (*target)[path] = value.is_discarded() ? Json(text) : value;
}

}  // namespace zbphw
