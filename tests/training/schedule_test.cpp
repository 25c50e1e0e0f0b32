#include "training/schedule.hpp"

#include <catch2/catch.hpp>

using zbphw::learning_rate_factor;

TEST_CASE("the rate rises linearly, peaks after the warm-up and ends at its last fraction") {
  zbphw::ScheduleConfig c;
  c.warmup_steps = 10;
  c.final_fraction = 0.1;
  CHECK(learning_rate_factor(c, 0, 110) == Approx(0.1));
  CHECK(learning_rate_factor(c, 4, 110) == Approx(0.5));
  CHECK(learning_rate_factor(c, 9, 110) == 1);
  CHECK(learning_rate_factor(c, 10, 110) == 1);
  CHECK(learning_rate_factor(c, 60, 110) == Approx(0.55));                   // half way: the mean of 1 and .1
  CHECK(learning_rate_factor(c, 35, 110) == Approx(0.1 + 0.9 * 0.8535534));  // (1 + cos(pi / 4)) / 2
  CHECK(learning_rate_factor(c, 110, 110) == Approx(0.1));
  CHECK(learning_rate_factor(c, 500, 110) == Approx(0.1));
}

TEST_CASE("no warm-up starts at the peak; a run within its warm-up never reaches it") {
  zbphw::ScheduleConfig c;
  c.warmup_steps = 0;
  CHECK(learning_rate_factor(c, 0, 10) == 1);
  c.warmup_steps = 100;
  CHECK(learning_rate_factor(c, 9, 10) == Approx(0.1));
}
