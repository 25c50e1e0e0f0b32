#include "base/config_kind.hpp"

#include <catch2/catch.hpp>

#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Json;

namespace {

struct Lamp {
  std::int64_t watts = 40;
};

void describe(zbphw::Fields& f, Lamp& c) { f.integer("watts", c.watts, zbphw::between(1, 100), "power"); }

}  // namespace

TEST_CASE("a file's kind is taken off before its description reads it") {
  const ScratchDirectory scratch;
  const std::string path = scratch.file("a.json", R"({"watts": 60, "kind": "lamp"})");
  CHECK(zbphw::load_config_of_kind<Lamp>("lamp", path).watts == 60);
  CHECK(zbphw::load_config_of_kind<Lamp>("lamp", path, {"watts=7"}).watts == 7);
  CHECK(zbphw::load_kinded_file("", path).kind == "lamp");
}

TEST_CASE("a file without a kind is what the reader expects") {
  const ScratchDirectory scratch;
  CHECK(zbphw::load_config_of_kind<Lamp>("lamp", scratch.file("a.json", "{}")).watts == 40);
}

TEST_CASE("a file of another kind is refused with both names") {
  const ScratchDirectory scratch;
  CHECK_THROWS_WITH(zbphw::load_config_of_kind<Lamp>("lamp", scratch.file("a.json", R"({"kind": "train"})")),
                    Contains("a.json: $.kind: got \"train\"; allowed here: \"lamp\""));
  CHECK_THROWS_WITH(zbphw::load_config_of_kind<Lamp>("lamp", scratch.file("b.json", R"({"kind": 3})")),
                    Contains("$.kind: got 3; allowed: a text"));
  CHECK_THROWS_WITH(zbphw::load_config_of_kind<Lamp>("lamp", scratch.file("c.json", R"({"kind": "lamp", "watt": 3})")),
                    Contains("did you mean 'watts'?"));
}

TEST_CASE("an effective configuration starts with its kind and can be read again") {
  const Json written = zbphw::with_kind("lamp", zbphw::described_kind<Lamp>("a lamp").check(Json::object(), "x"));
  CHECK(written.dump() == R"({"kind":"lamp","watts":40})");
  CHECK(zbphw::described_kind<Lamp>("a lamp").explain().at(0).path == "watts");
}
