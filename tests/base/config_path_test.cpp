#include "base/config_path.hpp"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Json;

namespace {

// Presets of a kind "test" in a directory that ZBPHW_CONFIG_PATH names while the object lives.
class OwnPresets {
 public:
  OwnPresets() {
    std::filesystem::create_directories(scratch_.path("first/test"));
    std::filesystem::create_directories(scratch_.path("second/test"));
    setenv("ZBPHW_CONFIG_PATH", (scratch_.path("first") + "::" + scratch_.path("second")).c_str(), 1);
  }
  ~OwnPresets() { unsetenv("ZBPHW_CONFIG_PATH"); }
  std::string file(const std::string& name, const std::string& text) const { return scratch_.file(name, text); }

 private:
  ScratchDirectory scratch_;
};

Json expand(const std::string& text) {
  std::string where = "$.cell";
  return zbphw::expand_preset(Json::parse(text), "test", where);
}

}  // namespace

TEST_CASE("the environment's directories come before the shipped one, and the first file of a name wins") {
  const OwnPresets own;
  const std::string first = own.file("first/test/alpha.json", "{}");
  own.file("second/test/alpha.json", "{}");
  own.file("second/test/beta.json", "{}");
  own.file("second/test/readme.txt", "no preset");
  CHECK(zbphw::preset_names("test") == std::vector<std::string>{"alpha", "beta"});
  CHECK(zbphw::find_preset("test", "alpha", "$") == first);
  CHECK(zbphw::config_directories().size() == 3);
  CHECK(zbphw::config_directories().back() == std::string(ZBPHW_SOURCE_DIR) + "/configs");
}

TEST_CASE("keys beside the preset override its values, at any depth") {
  const OwnPresets own;
  own.file("first/test/alpha.json", R"({"a": 1, "b": {"c": 2, "d": [3, 4]}, "e": {"f": 5}})");
  CHECK(expand(R"({"preset": "alpha"})") == Json::parse(R"({"a": 1, "b": {"c": 2, "d": [3, 4]}, "e": {"f": 5}})"));
  CHECK(expand(R"({"preset": "alpha", "a": 7, "b": {"d": [8]}, "e": null, "g": true})") ==
        Json::parse(R"({"a": 7, "b": {"c": 2, "d": [8]}, "e": null, "g": true})"));
  CHECK(expand(R"({"a": 1})") == Json::parse(R"({"a": 1})"));
}

TEST_CASE("errors after expansion name the preset's file") {
  const OwnPresets own;
  const std::string path = own.file("first/test/alpha.json", "{}");
  std::string where = "$.cell";
  zbphw::expand_preset(Json::parse(R"({"preset": "alpha"})"), "test", where);
  CHECK(where == "$.cell (preset " + path + ")");
}

TEST_CASE("a wrong preset is refused with the list, the nearest name and the directories") {
  const OwnPresets own;
  own.file("first/test/alpha.json", "{}");
  own.file("first/test/list.json", "[1]");
  CHECK_THROWS_WITH(expand(R"({"preset": "alpah"})"),
                    Contains("$.cell.preset: unknown preset 'alpah'; did you mean 'alpha'?") &&
                        Contains("known: alpha or list") && Contains("/configs/test"));
  CHECK_THROWS_WITH(expand(R"({"preset": "../test/alpha"})"), Contains("unknown preset"));
  CHECK_THROWS_WITH(expand(R"({"preset": 3})"), Contains("$.cell.preset: got 3; allowed: a text"));
  CHECK_THROWS_WITH(expand(R"({"preset": "list"})"), Contains("list.json: allowed: an object"));
  CHECK_THROWS_WITH(expand("[1]"), Contains("$.cell: allowed: an object"));
  CHECK_THROWS_AS(zbphw::find_preset("no/such/kind", "alpha", "$"), zbphw::Error);
}
