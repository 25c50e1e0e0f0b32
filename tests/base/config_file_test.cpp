#include "base/config_file.hpp"

#include <catch2/catch.hpp>

#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::apply_override;
using zbphw::Json;
using zbphw::load_json_file;

TEST_CASE("bad JSON files are refused with file, line and column") {
  const ScratchDirectory scratch;
  CHECK_THROWS_WITH(load_json_file(scratch.path("none.json")), Contains("none.json") && Contains("No such file"));
  CHECK_THROWS_WITH(load_json_file(scratch.path()), Contains("is a directory"));
  CHECK_THROWS_WITH(load_json_file(scratch.file("e.json", " \n")), Contains("is empty"));
  CHECK_THROWS_WITH(load_json_file(scratch.file("t.json", "{\"a\": 1,")), Contains("ends in the middle"));
  CHECK_THROWS_WITH(load_json_file(scratch.file("b.json", "{\n  \"a\": nonsense\n}")), Contains("line 2"));
  CHECK_THROWS_WITH(load_json_file(scratch.file("u.json", "{\"\xff\": 1}")), Contains("not valid JSON"));
  CHECK_THROWS_WITH(load_json_file(scratch.file("d.json", R"({"a": 1, "b": {"a": 2}, "a": 3})")),
                    Contains("'a' stands twice"));
}

TEST_CASE("a good JSON file keeps the order of its keys") {
  const ScratchDirectory scratch;
  CHECK(load_json_file(scratch.file("a.json", R"({"z": 1, "a": [2]})")).dump() == R"({"z":1,"a":[2]})");
}

TEST_CASE("overrides set numbers, texts and nested keys") {
  Json json = Json::parse(R"({"adc": {"bits": 8}, "name": "x"})");
  apply_override(json, "adc.bits=6");
  apply_override(json, "adc.grid=mid_rise");
  apply_override(json, "new.deep.key=true");
  apply_override(json, "name=a=b");
  CHECK(json.dump() == R"({"adc":{"bits":6,"grid":"mid_rise"},"name":"a=b","new":{"deep":{"key":true}}})");
}

TEST_CASE("overrides that cannot be applied are usage errors") {
  Json json = Json::parse(R"({"name": "x"})");
  CHECK_THROWS_WITH(apply_override(json, "name"), Contains("expected path=value"));
  CHECK_THROWS_WITH(apply_override(json, "=3"), Contains("expected path=value"));
  CHECK_THROWS_WITH(apply_override(json, "name.deep=3"), Contains("'name' holds no keys"));
}
