// The kinds of configuration files, by name: what `zbphw config` can check and explain.
//
//     // beside the description of a kind, in its source file
//     const Registration<ConfigKind> registered("device", described_kind<DeviceConfig>("an analog device"));
//
// A file says what it is with a top-level key "kind". The key belongs to the file, not to the description: it is taken
// off before the description reads the rest, and put first again when the effective configuration is written.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/config_file.hpp"
#include "base/fields.hpp"
#include "base/registry.hpp"

namespace zbphw {

struct ConfigKind {
  std::string summary;  // "an analog device"
  // The effective configuration of a file's JSON, its "kind" taken off. Throws a config Error at `where`.
  std::function<Json(const Json& json, const std::string& where)> check;
  std::function<std::vector<FieldRow>()> explain;
};

template <class T>
ConfigKind described_kind(const std::string& summary) {
  return {summary, [](const Json& json, const std::string& where) { return write_config(read_config<T>(json, where)); },
          [] { return explain_config<T>(); }};
}

// Takes "kind" off and returns it; "" when there is none. Throws a config Error when it is not a text.
std::string take_kind(Json& json, const std::string& where);

// `config` with "kind" as its first key.
Json with_kind(const std::string& kind, const Json& config);

// Reads a file of one kind, overrides applied. Throws a config Error, also when the file says that it is another kind.
template <class T>
T load_config_of_kind(const std::string& kind, const std::string& path, const std::vector<std::string>& overrides = {});

// The same without reading: the JSON of a file of `kind` ("" for any), "kind" taken off, overrides applied, and the
// text that starts errors about it.
struct KindedFile {
  std::string kind;
  Json json;
  std::string where;
};
KindedFile load_kinded_file(const std::string& kind, const std::string& path,
                            const std::vector<std::string>& overrides = {});

template <class T>
T load_config_of_kind(const std::string& kind, const std::string& path, const std::vector<std::string>& overrides) {
  const KindedFile file = load_kinded_file(kind, path, overrides);
  return read_config<T>(file.json, file.where);
}

}  // namespace zbphw
