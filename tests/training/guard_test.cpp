#include "training/guard.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

using zbphw::Guard;
using zbphw::GuardConfig;

namespace {

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();

GuardConfig short_window() {
  GuardConfig c;
  c.window_steps = 4;
  c.jump_deviations = 3;
  c.abort_after_skips = 3;
  return c;
}

// Mean 2 and standard deviation sqrt(2 / 3) = .816 of losses; norms alike.
Guard filled() {
  Guard guard(short_window());
  for (const double v : {1.0, 3.0, 2.0, 2.0}) CHECK(guard.look(v, v).empty());
  return guard;
}

}  // namespace

TEST_CASE("what is not finite is skipped from the first update on") {
  Guard guard(short_window());
  CHECK(guard.look(nan_value, 1) == "the loss is not finite");
  CHECK(guard.look(1, std::numeric_limits<double>::infinity()) == "the gradient is not finite");
  CHECK(guard.skips() == 2);
  CHECK_FALSE(guard.should_abort());
  CHECK(guard.look(1, nan_value) == "the gradient is not finite");
  CHECK(guard.should_abort());
}

TEST_CASE("a jump is three deviations above the mean of a full window") {
  CHECK(filled().look(2 + 3 * 0.8164, 2).empty());
  CHECK(filled().look(2 + 3 * 0.8166, 2) == "the loss jumps");
  CHECK(filled().look(2, 2 + 3 * 0.8166) == "the gradient norm jumps");
  CHECK(filled().look(-100, 0).empty());  // downwards is no jump
  Guard young(short_window());
  CHECK(young.look(1, 1).empty());
  CHECK(young.look(1000, 1000).empty());
}

TEST_CASE("jumps can be let through") {
  GuardConfig c = short_window();
  c.skip_jumps = false;
  Guard guard(c);
  for (int i = 0; i < 10; ++i) CHECK(guard.look(i == 9 ? 1e9 : 1, 1).empty());
}

TEST_CASE("a new level is accepted after a while") {
  Guard guard = filled();
  CHECK_FALSE(guard.look(10, 2).empty());
  CHECK(guard.look(10, 2).empty());  // mean (3+2+2+10)/4 = 4.25, deviation 3.9
  CHECK(guard.skips_in_a_row() == 0);
}

TEST_CASE("a restored guard decides as the saved one") {
  Guard guard = filled();
  guard.look(nan_value, 2);
  CHECK(guard.look(50, 2) == "the loss jumps");
  Guard restored(short_window());
  restored.restore(zbphw::Json::parse(guard.state().dump()));
  CHECK(restored.skips() == 2);
  CHECK(restored.jumps_skipped() == 1);
  CHECK(restored.skips_in_a_row() == 2);
  // The window is 3, 2, 2, 50: mean 14.25, deviation 23.8.
  CHECK(restored.look(14.25 + 3 * 23.9, 2) == "the loss jumps");
  CHECK(restored.skips_in_a_row() == 3);
}
