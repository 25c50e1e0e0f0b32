#include "base/fields.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace zbphw {
namespace {

std::string number_text(double value) {
  std::ostringstream out;
  out.precision(12);
  out << value;
  return out.str();
}

// A value as it stands in an error: long ones are cut, since the error is one line.
std::string shown(const Json& json) {
  std::string text = json.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 60) text = text.substr(0, 57) + "...";
  return text;
}

double read_number(const Json& json, const std::string& where, const Range& range) {
  const bool is_finite_number = json.is_number() && std::isfinite(json.get<double>());
  if (!is_finite_number || !range.contains(json.get<double>())) {
    throw config_error(where, "got " + shown(json) + "; allowed: a number " + range.text());
  }
  return json.get<double>();
}

}  // namespace

bool Range::contains(double value) const {
  const bool above_low = low_open ? value > low : value >= low;
  const bool below_high = high_open ? value < high : value <= high;
  return above_low && below_high;
}

std::string Range::text() const {
  const bool has_low = std::isfinite(low);
  const bool has_high = std::isfinite(high);
  if (has_low && has_high) {
    return (low_open ? "above " + number_text(low) + " and " : "from " + number_text(low) + " ") +
           (high_open ? "below " : (low_open ? "up to " : "to ")) + number_text(high);
  }
  if (has_low) return (low_open ? "above " : "of at least ") + number_text(low);
  if (has_high) return (high_open ? "below " : "of at most ") + number_text(high);
  return "that is finite";
}

Range any_number() { return {}; }
Range at_least(double low) { return {low, std::numeric_limits<double>::infinity(), false, false}; }
Range above(double low) { return {low, std::numeric_limits<double>::infinity(), true, false}; }
Range between(double low, double high) { return {low, high, false, false}; }
Range above_up_to(double low, double high) { return {low, high, true, false}; }

std::string unit_of_key(const std::string& key) {
  static const std::vector<std::pair<std::string, std::string>> suffixes = {{"_ns", "ns"},
                                                                            {"_pj", "pJ"},
                                                                            {"_us", "uS"},
                                                                            {"_fj", "fJ"},
                                                                            {"_ohm", "ohm"},
                                                                            {"_s", "s"},
                                                                            {"_ms", "ms"},
                                                                            {"_mhz", "MHz"},
                                                                            {"_v", "V"},
                                                                            {"_w", "W"},
                                                                            {"_mw", "mW"},
                                                                            {"_na", "nA"},
                                                                            {"_nm", "nm"},
                                                                            {"_k", "K"},
                                                                            {"_per_k", "1/K"},
                                                                            {"_rad", "rad"},
                                                                            {"_a_per_w", "A/W"},
                                                                            {"_bits", "bits"},
                                                                            {"_tokens", "tokens"},
                                                                            {"_steps", "steps"},
                                                                            {"_bytes", "bytes"},
                                                                            {"_fraction", "fraction"},
                                                                            {"_gb_per_s", "GB/s"},
                                                                            {"_per_s", "1/s"},
                                                                            {"_f", "F"}};
  std::size_t longest = 0;
  std::string unit;
  for (const auto& [suffix, name] : suffixes) {
    const bool ends = key.size() > suffix.size() && key.compare(key.size() - suffix.size(), suffix.size(), suffix) == 0;
    if (ends && suffix.size() > longest) {
      longest = suffix.size();
      unit = name;
    }
  }
  return unit;
}

FieldInfo Fields::info(const char* key, const char* type, const std::string& allowed, const char* help) {
  FieldInfo result{key, type, allowed, help, next_required_};
  next_required_ = false;
  return result;
}

std::string Fields::read_text(const Json& json, const std::string& where, const std::string& allowed) {
  if (!json.is_string()) throw config_error(where, "got " + shown(json) + "; allowed: " + allowed);
  return json.get<std::string>();
}

void Fields::integer(const char* key, std::int64_t& value, Range range, const char* help) {
  FieldAccess access;
  access.parse = [&value, range](const Json& json, const std::string& where) {
    const bool in_range = json.is_number_integer() && range.contains(json.get<double>());
    // An unsigned value above the largest signed one would wrap to a negative number.
    const bool fits = !json.is_number_unsigned() || json.get<std::uint64_t>() <= INT64_MAX;
    if (!in_range || !fits) {
      throw config_error(where, "got " + shown(json) + "; allowed: an integer " + range.text());
    }
    value = json.get<std::int64_t>();
  };
  access.print = [&value] { return Json(value); };
  leaf(info(key, "integer", "an integer " + range.text(), help), access);
}

void Fields::number(const char* key, double& value, Range range, const char* help) {
  FieldAccess access;
  access.parse = [&value, range](const Json& json, const std::string& where) {
    value = read_number(json, where, range);
  };
  access.print = [&value] { return Json(value); };
  leaf(info(key, "number", "a number " + range.text(), help), access);
}

void Fields::flag(const char* key, bool& value, const char* help) {
  FieldAccess access;
  access.parse = [&value](const Json& json, const std::string& where) {
    if (!json.is_boolean()) throw config_error(where, "got " + shown(json) + "; allowed: true or false");
    value = json.get<bool>();
  };
  access.print = [&value] { return Json(value); };
  leaf(info(key, "true or false", "true or false", help), access);
}

void Fields::text(const char* key, std::string& value, const char* help) {
  FieldAccess access;
  access.parse = [&value](const Json& json, const std::string& where) { value = read_text(json, where, "a text"); };
  access.print = [&value] { return Json(value); };
  leaf(info(key, "text", "a text", help), access);
}

void Fields::bits(const char* key, Bits& value, const char* help) {
  const std::string allowed = "an integer from 1 to 16, or \"ideal\" for no quantisation";
  FieldAccess access;
  access.parse = [&value, allowed](const Json& json, const std::string& where) {
    if (json.is_string() && json.get<std::string>() == "ideal") {
      value.reset();
      return;
    }
    if (!json.is_number_integer() || !between(1, 16).contains(json.get<double>())) {
      throw config_error(where, "got " + shown(json) + "; allowed: " + allowed);
    }
    value = json.get<int>();
  };
  access.print = [&value] { return value ? Json(*value) : Json("ideal"); };
  leaf(info(key, "bits", allowed, help), access);
}

void Fields::numbers(const char* key, std::vector<double>& value, Range range, const char* help) {
  FieldAccess access;
  access.parse = [&value, range](const Json& json, const std::string& where) {
    if (!json.is_array()) throw config_error(where, "got " + shown(json) + "; allowed: a list of numbers");
    value.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      value.push_back(read_number(json[i], where + "[" + std::to_string(i) + "]", range));
    }
  };
  access.print = [&value] { return Json(value); };
  leaf(info(key, "list", "a list of numbers, each " + range.text(), help), access);
}

void Fields::texts(const char* key, std::vector<std::string>& value, const char* help) {
  FieldAccess access;
  access.parse = [&value](const Json& json, const std::string& where) {
    if (!json.is_array()) throw config_error(where, "got " + shown(json) + "; allowed: a list of texts");
    value.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      value.push_back(read_text(json[i], where + "[" + std::to_string(i) + "]", "a text"));
    }
  };
  access.print = [&value] { return Json(value); };
  leaf(info(key, "list", "a list of texts", help), access);
}

void Fields::raw(const char* key, RawConfig& value, const char* help) {
  FieldAccess access;
  access.parse = [&value](const Json& json, const std::string& where) {
    if (!json.is_object()) throw config_error(where, "got " + shown(json) + "; allowed: an object");
    value.value = json;
    value.where = where;
  };
  access.print = [&value] { return value.value; };
  leaf(info(key, "object", "an object", help), access);
}

FieldReader::FieldReader(const Json& json, std::string where) {
  if (!json.is_object()) throw config_error(where, "got " + shown(json) + "; allowed: an object");
  levels_.push_back({&json, std::move(where), {}});
}

void FieldReader::leaf(const FieldInfo& info, const FieldAccess& access) {
  Level& level = levels_.back();
  level.known.push_back(info.key);
  const auto found = level.json->find(info.key);
  if (found != level.json->end()) {
    access.parse(*found, level.where + "." + info.key);
  } else if (info.required) {
    throw config_error(level.where + "." + info.key, "is missing; allowed: " + info.allowed);
  }
}

bool FieldReader::begin_object(const FieldInfo& info) {
  static const Json empty = Json::object();
  Level& level = levels_.back();
  level.known.push_back(info.key);
  const std::string where = level.where + "." + info.key;
  const auto found = level.json->find(info.key);
  const bool present = found != level.json->end();
  if (!present && info.required) throw config_error(where, "is missing; allowed: an object");
  if (present && !found->is_object()) throw config_error(where, "got " + shown(*found) + "; allowed: an object");
  levels_.push_back({present ? &*found : &empty, where, {}});
  return true;
}

void FieldReader::end_object() {
  refuse_unknown_keys(levels_.back());
  levels_.pop_back();
}

bool FieldReader::has_object(const char* key, bool) const {
  const auto found = levels_.back().json->find(key);
  return found != levels_.back().json->end() && !found->is_null();
}

void FieldReader::refuse_unknown_keys() const { refuse_unknown_keys(levels_.back()); }

void FieldReader::refuse_unknown_keys(const Level& level) const {
  for (const auto& item : level.json->items()) {
    if (std::find(level.known.begin(), level.known.end(), item.key()) == level.known.end()) {
      throw config_error(level.where, "unknown key '" + item.key() + "'" + did_you_mean(item.key(), level.known) +
                                          " (known: " + join_choices(level.known) + ")");
    }
  }
}

void FieldReader::require(bool condition, const std::string& key, const std::string& message) {
  if (!condition) throw config_error(levels_.back().where + "." + key, message);
}

FieldWriter::FieldWriter() { levels_.emplace_back("", Json::object()); }

void FieldWriter::leaf(const FieldInfo& info, const FieldAccess& access) {
  levels_.back().second[info.key] = access.print();
}

bool FieldWriter::begin_object(const FieldInfo& info) {
  levels_.emplace_back(info.key, Json::object());
  return true;
}

void FieldWriter::end_object() {
  auto [key, json] = std::move(levels_.back());
  levels_.pop_back();
  levels_.back().second[key] = std::move(json);
}

bool FieldWriter::has_object(const char*, bool in_struct) const { return in_struct; }

void FieldExplainer::leaf(const FieldInfo& info, const FieldAccess& access) {
  std::string path = prefix_;
  for (const std::string& part : path_) path += part + ".";
  const std::string default_value = info.required ? "(required)" : access.print().dump();
  rows_.push_back({path + info.key, info.type, unit_of_key(info.key), default_value, info.allowed, info.help});
}

bool FieldExplainer::begin_object(const FieldInfo& info) {
  path_.push_back(info.key);
  return true;
}

void FieldExplainer::end_object() { path_.pop_back(); }

bool FieldExplainer::has_object(const char*, bool) const { return true; }

}  // namespace zbphw
