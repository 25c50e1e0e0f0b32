// One description per configuration kind, from which everything else comes.
//
// A configuration is a plain struct with a function beside it that names its fields once:
//
//     void describe(Fields& f, AdcConfig& c) {
//       f.bits("bits", c.bits, "resolution of the converter");
//       f.number("read_noise_fraction", c.read_noise, at_least(0), "standard deviation, of full scale");
//     }
//
// The members' initial values are the defaults. read_config() fills the struct from JSON and refuses what the
// description does not allow; write_config() gives the complete effective JSON back; explain_config() gives the table
// of keys, units, defaults and ranges that `zbphw config --explain` and the docs show.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/json.hpp"
#include "base/nearest_name.hpp"

namespace zbphw {

// An interval of allowed numbers; an open end is excluded.
struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_open = false;
  bool high_open = false;

  bool contains(double value) const;
  std::string text() const;  // "from 0 to 1", "above 0", "of at least 1", "that is finite"
};

Range any_number();
Range at_least(double low);
Range above(double low);
Range between(double low, double high);
Range above_up_to(double low, double high);

// A converter's resolution: a number of bits, or std::nullopt for "ideal". Zero is an error, never a silent ideal.
using Bits = std::optional<int>;

// The names of an enum's values, in order. Specialise it beside the enum:
//     template <> struct Choices<Grid> { static std::vector<std::pair<Grid, std::string>> all(); };
template <class Enum>
struct Choices;

template <class Enum>
std::vector<std::string> choice_names() {
  std::vector<std::string> names;
  for (const auto& [value, name] : Choices<Enum>::all()) names.push_back(name);
  return names;
}

template <class Enum>
std::string choice_text(Enum wanted) {
  for (const auto& [value, name] : Choices<Enum>::all()) {
    if (value == wanted) return name;
  }
  throw Error(ErrorKind::usage, "", "an enum value has no name");
}

template <class Enum>
std::optional<Enum> choice_from_text(const std::string& text) {
  for (const auto& [value, name] : Choices<Enum>::all()) {
    if (name == text) return value;
  }
  return std::nullopt;
}

// A sub-tree that somebody else reads, because a name in it decides its description (a cell model, say).
struct RawConfig {
  Json value = Json::object();
  std::string where;  // for the errors of whoever reads it
};

struct FieldInfo {
  std::string key;
  std::string type;     // "number", "integer", "text", "true or false", "one of", "bits", "object", "list"
  std::string allowed;  // in words, for errors and the table
  std::string help;
  bool required = false;
};

// How one field is read from and written to JSON. `parse` throws a config Error at `where`.
struct FieldAccess {
  std::function<void(const Json& value, const std::string& where)> parse;
  std::function<Json()> print;
};

class Fields {
 public:
  virtual ~Fields() = default;

  // The next field must be present.
  Fields& required() {
    next_required_ = true;
    return *this;
  }

  void integer(const char* key, std::int64_t& value, Range range, const char* help);
  void number(const char* key, double& value, Range range, const char* help);
  void flag(const char* key, bool& value, const char* help);
  void text(const char* key, std::string& value, const char* help);
  void bits(const char* key, Bits& value, const char* help);
  void numbers(const char* key, std::vector<double>& value, Range range, const char* help);
  void texts(const char* key, std::vector<std::string>& value, const char* help);
  void raw(const char* key, RawConfig& value, const char* help);

  template <class Enum>
  void choice(const char* key, Enum& value, const char* help) {
    const std::vector<std::string> names = choice_names<Enum>();
    FieldAccess access;
    access.parse = [&value, names](const Json& json, const std::string& where) {
      const std::string text = read_text(json, where, "one of " + join_choices(names));
      const std::optional<Enum> found = choice_from_text<Enum>(text);
      if (!found) {
        throw config_error(where, "got \"" + text + "\"; allowed: " + join_choices(names) + did_you_mean(text, names));
      }
      value = *found;
    };
    access.print = [&value] { return Json(choice_text(value)); };
    leaf(info(key, "one of", join_choices(names), help), access);
  }

  template <class T>
  void object(const char* key, T& value, const char* help) {
    if (begin_object(info(key, "object", "an object", help))) {
      describe(*this, value);
      end_object();
    }
  }

  // An object that may be missing; when it is there, its own defaults apply.
  template <class T>
  void optional_object(const char* key, std::optional<T>& value, const char* help);

  template <class T>
  void objects(const char* key, std::vector<T>& value, const char* help);

  // A condition between fields, checked after reading. `key` names the field that is at fault.
  virtual void require(bool condition, const std::string& key, const std::string& message) = 0;

 protected:
  virtual void leaf(const FieldInfo& info, const FieldAccess& access) = 0;
  // Whether to describe what is inside; end_object() follows only then.
  virtual bool begin_object(const FieldInfo& info) = 0;
  virtual void end_object() = 0;
  // Whether the object is present (reading: in the JSON; writing: in the struct; explaining: always).
  virtual bool has_object(const char* key, bool in_struct) const = 0;

  FieldInfo info(const char* key, const char* type, const std::string& allowed, const char* help);
  static std::string read_text(const Json& json, const std::string& where, const std::string& allowed);

 private:
  bool next_required_ = false;
};

// Fills a described struct from a JSON object. Unknown keys are refused with the nearest known name.
class FieldReader : public Fields {
 public:
  // `where` starts every error: the file's name and the JSON path so far ("a.json: $").
  FieldReader(const Json& json, std::string where);
  // Call after describe(): refuses what no field has claimed.
  void refuse_unknown_keys() const;
  void require(bool condition, const std::string& key, const std::string& message) override;

 protected:
  void leaf(const FieldInfo& info, const FieldAccess& access) override;
  bool begin_object(const FieldInfo& info) override;
  void end_object() override;
  bool has_object(const char* key, bool in_struct) const override;

 private:
  struct Level {
    const Json* json;
    std::string where;
    std::vector<std::string> known;
  };
  void refuse_unknown_keys(const Level& level) const;

  std::vector<Level> levels_;
};

// Writes a described struct as a complete JSON object.
class FieldWriter : public Fields {
 public:
  FieldWriter();
  Json result() const { return levels_.front().second; }
  void require(bool, const std::string&, const std::string&) override {}

 protected:
  void leaf(const FieldInfo& info, const FieldAccess& access) override;
  bool begin_object(const FieldInfo& info) override;
  void end_object() override;
  bool has_object(const char* key, bool in_struct) const override;

 private:
  std::vector<std::pair<std::string, Json>> levels_;
};

struct FieldRow {
  std::string path;  // "score_core.adc.bits"
  std::string type;
  std::string unit;  // from the key's suffix: "ns" for latency_ns, "" without one
  std::string default_value;
  std::string allowed;
  std::string help;
};

// Lists a description's fields with their defaults.
class FieldExplainer : public Fields {
 public:
  explicit FieldExplainer(std::string prefix = "") : prefix_(std::move(prefix)) {}
  const std::vector<FieldRow>& rows() const { return rows_; }
  void require(bool, const std::string&, const std::string&) override {}

 protected:
  void leaf(const FieldInfo& info, const FieldAccess& access) override;
  bool begin_object(const FieldInfo& info) override;
  void end_object() override;
  bool has_object(const char* key, bool in_struct) const override;

 private:
  std::string prefix_;
  std::vector<std::string> path_;
  std::vector<FieldRow> rows_;
};

// The unit that a key's suffix names: "settle_ns" -> "ns"; "" when it names none.
std::string unit_of_key(const std::string& key);

template <class T>
void read_config_into(T& config, const Json& json, const std::string& where) {
  FieldReader reader(json, where);
  describe(reader, config);
  reader.refuse_unknown_keys();
}

template <class T>
T read_config(const Json& json, const std::string& where) {
  T config;
  read_config_into(config, json, where);
  return config;
}

template <class T>
Json write_config(const T& config) {
  FieldWriter writer;
  T copy = config;  // one describe() serves reading and writing, so it takes a mutable struct
  describe(writer, copy);
  return writer.result();
}

template <class T>
std::vector<FieldRow> explain_config() {
  FieldExplainer explainer;
  T defaults;
  describe(explainer, defaults);
  return explainer.rows();
}

template <class T>
void Fields::optional_object(const char* key, std::optional<T>& value, const char* help) {
  if (!has_object(key, value.has_value())) {
    const FieldAccess nothing{[](const Json&, const std::string&) {}, [] { return Json(); }};
    leaf(info(key, "object", "an object, or null for none", help), nothing);
    return;
  }
  if (!value) value.emplace();
  object(key, *value, help);
}

template <class T>
void Fields::objects(const char* key, std::vector<T>& value, const char* help) {
  FieldAccess access;
  access.parse = [&value](const Json& json, const std::string& where) {
    if (!json.is_array()) throw config_error(where, "got " + json.dump() + "; allowed: a list of objects");
    value.clear();
    for (std::size_t i = 0; i < json.size(); ++i) {
      value.push_back(read_config<T>(json[i], where + "[" + std::to_string(i) + "]"));
    }
  };
  access.print = [&value] {
    Json list = Json::array();
    for (const T& item : value) list.push_back(write_config(item));
    return list;
  };
  leaf(info(key, "list", "a list of objects", help), access);
}

}  // namespace zbphw
