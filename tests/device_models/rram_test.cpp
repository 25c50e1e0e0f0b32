#include <catch2/catch.hpp>

#include "cell_statistics.hpp"

using Catch::Contains;
using zbphw::CellModel;

namespace {

constexpr double day_s = 86400;
constexpr std::size_t count = 200000;

void check_spread(const CellModel& cell, double target_us, double t_s, double sd_us) {
  INFO(cell.name() << " at " << target_us << " uS, " << t_s << " s");
  const Moments m = moments(Crowd(cell, target_us, count).at(cell, t_s));
  CHECK(std::abs(m.mean - target_us) < five_sigma * m.mean_error);
  CHECK(std::abs(m.sd - sd_us) < five_sigma * m.sd_error);
}

}  // namespace

TEST_CASE("rram_wan has the published spread at 1 s, 1 day and 2 days, and between them linear in ln t") {
  const auto cell = preset_cell("rram_wan_2022_aihwkit");
  // At x = 1/2: .348 + 8.015 - 10.96325 + 5.674125 - 1.0509375 and so on.
  check_spread(*cell, 20, 1, 2.0229375);
  check_spread(*cell, 20, day_s, 3.909);
  check_spread(*cell, 20, 2 * day_s, 3.929125);
  // sqrt(86400) s is half way from 1 s to 1 day in ln t.
  check_spread(*cell, 20, std::sqrt(day_s), (2.0229375 + 3.909) / 2);
  check_spread(*cell, 40, 1, .348 + 16.030 - 43.853 + 45.393 - 16.815);
  CHECK(read_sd(*cell, 20, 20, 1) == 0);
}

TEST_CASE("a device of rram_wan and sonos keeps its place in a spread that grows as published") {
  const auto wan = preset_cell("rram_wan_2022_aihwkit");
  const Crowd wan_crowd(*wan, 20, 100);
  const std::vector<double> day = wan_crowd.at(*wan, day_s), part = wan_crowd.at(*wan, std::sqrt(day_s));
  const auto sonos = preset_cell("sonos_agrawal_2022");
  const Crowd sonos_crowd(*sonos, 1, 100);
  const std::vector<double> half_day = sonos_crowd.at(*sonos, day_s / 2);
  for (std::size_t i = 0; i < 100; ++i) {
    const double start = wan_crowd.programmed_us[i] - 20;
    CHECK(day[i] - 20 == Approx(start * 3.909 / 2.0229375));
    CHECK(part[i] - 20 == Approx(start * (2.0229375 + 3.909) / 2 / 2.0229375));
    CHECK(half_day[i] - 1 == Approx((sonos_crowd.programmed_us[i] - 1) * .02264656 / .01981821).epsilon(1e-6));
  }
}

TEST_CASE("the second fit of the same chip is another model with its own spread and one time") {
  const auto cell = preset_cell("rram_wan_2022_crosssim");
  check_spread(*cell, 20, 1, 1.536e-4 * 8000 - 1.167e-2 * 400 + .2374 * 20 + 1.053);
  CHECK_THROWS_WITH(Crowd(*cell, 20, 1).at(*cell, 2), Contains("t_s = 2 is outside the model's times, 1 to 1 s"));
}

TEST_CASE("rram_wan outside its measured times is an error that says so") {
  const auto cell = preset_cell("rram_wan_2022_aihwkit");
  const Crowd crowd(*cell, 20, 1);
  CHECK_THROWS_WITH(crowd.at(*cell, 0), Contains("cell rram_wan: t_s = 0 is outside the model's times, 1 to 172800 s"));
  CHECK_THROWS_WITH(crowd.at(*cell, 172801), Contains("t_s = 172801"));
  CHECK_THROWS_AS(crowd.at(*cell, std::nan("")), zbphw::Error);
  CHECK_THROWS_AS(read_sd(*cell, 20, 20, 0), zbphw::Error);
}

TEST_CASE("rram_milo has a spread that falls with the target and does not change in time") {
  const auto cell = preset_cell("rram_milo_2021");
  check_spread(*cell, 50, 0, 4.326971);
  check_spread(*cell, 225, 1e7, 2.733246);
  CHECK_THROWS_WITH(Crowd(*cell, 49, 1), Contains("target conductance 49 uS of device 0 is outside 50 to 225 uS"));
}

TEST_CASE("rram_cmo programs with the spread of its acceptance window") {
  const auto narrow = preset_cell("rram_cmo_acceptance_0p2_percent");
  const auto wide = preset_cell("rram_cmo_acceptance_2_percent");
  check_spread(*narrow, 50, 0, .00081107 + .0534395);
  check_spread(*wide, 50, 0, .0112185391 + .564513709);
}

TEST_CASE("rram_cmo relaxes in mean and spread with ln t, independent of programming") {
  const auto cell = preset_cell("rram_cmo_acceptance_2_percent");
  const Crowd crowd(*cell, 50, count);
  const double t_s = std::exp(10.0);
  const Moments m = moments(crowd.at(*cell, t_s));
  CHECK(std::abs(m.mean - (50 - .8900206)) < five_sigma * m.mean_error);
  CHECK(std::abs(m.sd - std::hypot(.5757322, .83194712)) < five_sigma * m.sd_error);
  const Moments first = moments(crowd.at(*cell, 1));
  CHECK(std::abs(first.mean - 50) < five_sigma * first.mean_error);
  CHECK(std::abs(first.sd - std::hypot(.5757322, .41183342)) < five_sigma * first.sd_error);
}

TEST_CASE("rram_cmo reads with noise that grows with log10 G and the square root of a logarithm of time") {
  const auto cell = preset_cell("rram_cmo_acceptance_2_percent");
  // sqrt(ln((100 + 1e-6) / 2e-6)) = 4.2104078
  CHECK(read_sd(*cell, 10, 10, 100) == Approx(.0277316483 * 4.2104078).epsilon(1e-5));
  CHECK(read_sd(*cell, 50, 50, 100) == Approx(.0277316483 * 1.69897 * 4.2104078).epsilon(1e-5));
  CHECK(read_sd(*cell, 50, 50, 0) == 0);
}

TEST_CASE("rram_cmo is refused below 9 uS and between programming and one second") {
  const auto cell = preset_cell("rram_cmo_acceptance_2_percent");
  CHECK_THROWS_WITH(Crowd(*cell, 8.9, 1), Contains("8.9 uS") && Contains("outside 9 to 88.2 uS"));
  CHECK_THROWS_WITH(Crowd(*cell, 20, 1).at(*cell, .5), Contains("between 0 and 1"));
  CHECK_THROWS_AS(Crowd(*cell, 20, 1).at(*cell, -1), zbphw::Error);
}

TEST_CASE("sonos has the published spread of current at its days and between them") {
  const auto cell = preset_cell("sonos_agrawal_2022");
  CHECK(cell->g_max_us() == Approx(3.2));
  // 1 uS is 1000 nA at the preset's 1 V: 19.88665 (1 - exp(-1000 / 176.3115)) = 19.81821 nA.
  check_spread(*cell, 1, 0, .01981821);
  check_spread(*cell, 1, 5 * day_s, .03430096);
  // Half way from day 0 to day 1, A = 22.738835 and B = 181.58347.
  check_spread(*cell, 1, day_s / 2, .02264656);
  check_spread(*cell, .1, 0, .008608461);
  CHECK(read_sd(*cell, 1, 1, 0) == Approx(.01245926).epsilon(1e-5));
  CHECK_THROWS_WITH(Crowd(*cell, 1, 1).at(*cell, 6 * day_s), Contains("0 to 432000 s"));
}

TEST_CASE("the read voltage of sonos is a unit: the relative spread does not depend on it") {
  const auto one = preset_cell("sonos_agrawal_2022");
  const auto tenth = cell_from(R"({"preset": "sonos_agrawal_2022", "read_voltage_v": 0.1})");
  CHECK(tenth->g_max_us() == Approx(32));
  const std::vector<double> a = Crowd(*one, 1, 100).at(*one, day_s);
  const std::vector<double> b = Crowd(*tenth, 10, 100).at(*tenth, day_s);
  for (std::size_t i = 0; i < a.size(); ++i) CHECK(b[i] == Approx(10 * a[i]));
  CHECK(read_sd(*tenth, 10, 10, 0) == Approx(10 * read_sd(*one, 1, 1, 0)));
}
