#include "device_models/converters/converter.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <vector>

#include "base/config_file.hpp"
#include "base/random.hpp"

using namespace zbphw;

namespace {

ConverterConfig four_bits(Grid grid) {
  ConverterConfig config;
  config.bits = 4;
  config.grid = grid;
  config.range = RangeSource::fixed;
  return config;
}

void check_grid(Grid grid, const std::vector<double>& expected) {
  const std::vector<float> inputs = {-2, -1, -.51F, -.01F, 0, .01F, .51F, 1, 2};
  const Quantiser quantiser = resolve(four_bits(grid), 1.0);
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    INFO("input " << inputs[i]);
    CHECK(convert(quantiser, inputs[i]) == Approx(expected[i]).margin(5e-5));
  }
}

}  // namespace

// Worked by hand for 4 bits over [-1, 1]: steps 1/7, 1/8 and 2/15.
TEST_CASE("the three grids give their hand-worked codes") {
  check_grid(Grid::mid_tread, {-1, -1, -.5714, 0, 0, 0, .5714, 1, 1});
  check_grid(Grid::mid_rise, {-.9375, -.9375, -.5625, -.0625, .0625, .0625, .5625, .9375, .9375});
  check_grid(Grid::end_point, {-1, -1, -.4667, -.0667, .0667, .0667, .4667, 1, 1});
}

TEST_CASE("an unsaturated conversion errs by a variance of step squared over twelve") {
  // Inputs uniform over ten whole steps. The squared error's relative standard error is sqrt(4/5 / n) = 0.0014; the
  // bound is five of them.
  for (const Grid grid : {Grid::mid_tread, Grid::mid_rise, Grid::end_point}) {
    const Quantiser quantiser = resolve(four_bits(grid), 1.0);
    const RandomAt at(1, stream_id("converter test"));
    double sum = 0;
    const int count = 400000;
    for (std::uint32_t i = 0; i < count; ++i) {
      const double x = quantiser.origin + (1.5 + 10 * at.uniform(i)) * quantiser.step;
      const double error = convert(quantiser, static_cast<float>(x)) - x;
      sum += error * error;
    }
    CHECK(sum / count == Approx(conversion_variance(quantiser)).epsilon(0.007));
  }
}

TEST_CASE("a unipolar range starts where low_fraction says") {
  ConverterConfig config;
  config.grid = Grid::end_point;
  config.low_fraction = -0.25;
  const Quantiser quantiser = resolve(config, 2.0);
  CHECK(convert(quantiser, -9) == Approx(-0.5));
  CHECK(convert(quantiser, 9) == Approx(2.0));
  CHECK(quantiser.last_code == 255);
}

TEST_CASE("ideal bits and an empty range pass values through") {
  ConverterConfig config;
  CHECK(convert(resolve(config, 0.0), 0.3F) == 0.3F);
  config.bits.reset();
  CHECK(convert(resolve(config, 1.0), 0.3F) == 0.3F);
}

TEST_CASE("converter configs that contradict themselves are refused") {
  const auto read = [](const char* text) { return read_config<ConverterConfig>(Json::parse(text), "d.json: $.adc"); };
  CHECK_THROWS_WITH(read(R"({"grid": "mid_tread", "low_fraction": 0})"),
                    Catch::Contains("$.adc.grid: mid_tread needs"));
  CHECK_THROWS_WITH(read(R"({"bits": 1})"), Catch::Contains("$.adc.bits: one bit of mid_tread"));
  CHECK_THROWS_WITH(read(R"({"bits": 17})"), Catch::Contains("from 1 to 16"));
  CHECK_THROWS_WITH(read(R"({"dither": "subtractiv"})"), Catch::Contains("did you mean 'subtractive'?"));
}
