// Every configuration that we ship is one that its command would accept.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "base/config_kind.hpp"
#include "base/json.hpp"

namespace fs = std::filesystem;

namespace {

// Presets are parts of configurations, without a kind; the layer that reads them tests them.
bool is_preset(const fs::path& path) { return path.parent_path().filename() == "presets"; }

}  // namespace

TEST_CASE("every shipped configuration is valid, and so is its effective form") {
  const auto& kinds = zbphw::Registry<zbphw::ConfigKind>::instance();
  std::set<std::string> seen;
  for (const auto& entry : fs::recursive_directory_iterator(ZBPHW_SOURCE_DIR "/configs")) {
    if (entry.path().extension() != ".json" || is_preset(entry.path())) continue;
    INFO(entry.path().string());
    const zbphw::KindedFile file = zbphw::load_kinded_file("", entry.path().string());
    const zbphw::ConfigKind& kind = kinds.at(file.kind, "kind", file.where);
    const zbphw::Json effective = kind.check(file.json, file.where);
    CHECK(kind.check(effective, "effective") == effective);
    seen.insert(file.kind);
  }
  CHECK(seen.size() >= 3);  // device, model, train: the walk has found the folder
}

TEST_CASE("every kind of configuration explains its keys with a meaning") {
  const auto& kinds = zbphw::Registry<zbphw::ConfigKind>::instance();
  for (const std::string& name : kinds.names()) {
    const zbphw::ConfigKind& kind = kinds.at(name, "kind", "");
    CHECK_FALSE(kind.summary.empty());
    CHECK_FALSE(kind.explain().empty());
    for (const zbphw::FieldRow& row : kind.explain()) {
      INFO(name << ": " << row.path);
      CHECK_FALSE(row.help.empty());
    }
  }
}
