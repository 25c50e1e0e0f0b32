#include "base/fields.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using zbphw::Fields;
using zbphw::Json;
using zbphw::read_config;

namespace {

enum class Grid { mid_tread, mid_rise };

struct Adc {
  zbphw::Bits bits = 8;
  Grid grid = Grid::mid_tread;
  double settle_ns = 10;
};

struct Chip {
  std::string name;
  std::int64_t tiles = 1;
  bool shared = false;
  Adc adc;
  std::optional<Adc> second_adc;
  std::vector<double> times_s = {1, 60};
  std::vector<Adc> more;
};

void describe(Fields& f, Adc& c) {
  f.bits("bits", c.bits, "resolution");
  f.choice("grid", c.grid, "code grid");
  f.number("settle_ns", c.settle_ns, zbphw::at_least(0), "settling time");
}

void describe(Fields& f, Chip& c) {
  f.required().text("name", c.name, "the chip's name");
  f.integer("tiles", c.tiles, zbphw::between(1, 64), "number of tiles");
  f.flag("shared", c.shared, "whether columns share a converter");
  f.object("adc", c.adc, "the converter");
  f.optional_object("second_adc", c.second_adc, "another converter");
  f.numbers("times_s", c.times_s, zbphw::at_least(0), "read times");
  f.objects("more", c.more, "more converters");
  f.require(!c.shared || c.tiles > 1, "shared", "needs at least two tiles");
}

Chip read(const std::string& text) { return read_config<Chip>(Json::parse(text), "chip.json: $"); }

}  // namespace

template <>
struct zbphw::Choices<Grid> {
  static std::vector<std::pair<Grid, std::string>> all() {
    return {{Grid::mid_tread, "mid_tread"}, {Grid::mid_rise, "mid_rise"}};
  }
};

TEST_CASE("fields are read, and what is missing keeps its default") {
  const Chip chip = read(R"({"name": "a", "adc": {"bits": "ideal", "grid": "mid_rise"}, "more": [{"bits": 4}]})");
  CHECK(chip.name == "a");
  CHECK_FALSE(chip.adc.bits.has_value());
  CHECK(chip.adc.grid == Grid::mid_rise);
  CHECK(chip.adc.settle_ns == 10);
  CHECK_FALSE(chip.second_adc.has_value());
  CHECK(chip.more.at(0).bits == 4);
}

TEST_CASE("an optional object appears with its own defaults") {
  CHECK(read(R"({"name": "a", "second_adc": {}})").second_adc->bits == 8);
  CHECK_FALSE(read(R"({"name": "a", "second_adc": null})").second_adc.has_value());
}

TEST_CASE("writing gives the complete effective config, and reading it back gives the same") {
  const Json written = zbphw::write_config(read(R"({"name": "a", "second_adc": {"bits": 3}})"));
  CHECK(written.dump() ==
        R"({"name":"a","tiles":1,"shared":false,"adc":{"bits":8,"grid":"mid_tread","settle_ns":10.0},)"
        R"("second_adc":{"bits":3,"grid":"mid_tread","settle_ns":10.0},"times_s":[1.0,60.0],"more":[]})");
  CHECK(zbphw::write_config(read_config<Chip>(written, "again")) == written);
}

TEST_CASE("every refusal names the path, the value and what is allowed") {
  CHECK_THROWS_WITH(read("{}"), Contains("$.name: is missing"));
  CHECK_THROWS_WITH(read(R"({"name": 3})"), Contains("$.name: got 3; allowed: a text"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "tiles": 65})"),
                    Contains("$.tiles: got 65; allowed: an integer from 1 to 64"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "tiles": 1.5})"), Contains("$.tiles: got 1.5"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "tiles": 18446744073709551615})"),
                    Contains("$.tiles: got 18446744073709551615"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "shared": 1})"), Contains("$.shared: got 1; allowed: true or false"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "adc": 8})"), Contains("$.adc: got 8; allowed: an object"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "adc": {"bits": 0}})"),
                    Contains("$.adc.bits: got 0") && Contains("\"ideal\""));
  CHECK_THROWS_WITH(read(R"({"name": "a", "adc": {"settle_ns": -1}})"), Contains("a number of at least 0"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "adc": {"grid": "midrise"}})"), Contains("did you mean 'mid_rise'?"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "times_s": [1, "x"]})"), Contains("$.times_s[1]: got \"x\""));
  CHECK_THROWS_WITH(read(R"({"name": "a", "more": [{}, {"bits": 99}]})"), Contains("$.more[1].bits: got 99"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "shared": true})"), Contains("$.shared: needs at least two tiles"));
  CHECK_THROWS_WITH(read("[1]"), Contains("allowed: an object"));
}

TEST_CASE("an unknown key is refused at any depth with the nearest name") {
  CHECK_THROWS_WITH(read(R"({"name": "a", "tile": 3})"), Contains("unknown key 'tile'; did you mean 'tiles'?"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "adc": {"bit": 3}})"),
                    Contains("$.adc: unknown key 'bit'; did you mean 'bits'?"));
  CHECK_THROWS_WITH(read(R"({"name": "a", "more": [{"zzzzz": 3}]})"), Contains("known: bits, grid or settle_ns"));
}

TEST_CASE("the table shows path, unit, default and range") {
  const std::vector<zbphw::FieldRow> rows = zbphw::explain_config<Chip>();
  const auto settle = std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r.path == "adc.settle_ns"; });
  REQUIRE(settle != rows.end());
  CHECK(settle->unit == "ns");
  CHECK(settle->default_value == "10.0");
  CHECK(settle->allowed == "a number of at least 0");
  CHECK(rows.front().default_value == "(required)");
}
