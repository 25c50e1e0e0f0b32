#include <algorithm>
#include <catch2/catch.hpp>

#include "cell_statistics.hpp"

namespace {

constexpr std::size_t count = 200000;

// Chi-square of sixteen bins that a normal distribution of this mean and standard deviation fills evenly.
double chi_square_of_normal(const std::vector<double>& values, double mean, double sd) {
  std::vector<double> bins(16);
  for (const double v : values) {
    const double share = std::erfc(-(v - mean) / (sd * std::sqrt(2.0))) / 2;
    bins[std::min<std::size_t>(15, static_cast<std::size_t>(share * 16))] += 1;
  }
  const double expected = static_cast<double>(values.size()) / 16;
  double sum = 0;
  for (const double b : bins) sum += (b - expected) * (b - expected) / expected;
  return sum;
}

constexpr double chi_square_bound = 44.3;  // upper 1e-4 point at 15 degrees of freedom

}  // namespace

TEST_CASE("the three kinds of programming spread of a generic cell are normal with their widths") {
  struct Case {
    std::string spread;
    double sd_us;
  };
  const std::vector<Case> cases = {{R"("sd_us": 2)", 2},
                                   {R"("sd_of_value": 0.03)", 1.5},
                                   {R"("sd_of_g_max": 0.01)", 1},
                                   {R"("sd_us": 3, "sd_of_value": 0.08)", 5}};
  for (const Case& c : cases) {
    INFO(c.spread);
    const auto cell = cell_from(R"({"preset": "generic_exact", "programming": {)" + c.spread + "}}");
    const Crowd crowd(*cell, 50, count);
    CHECK(chi_square_of_normal(crowd.programmed_us, 50, c.sd_us) < chi_square_bound);
    CHECK(chi_square_of_normal(crowd.programmed_us, 50, 1.05 * c.sd_us) > chi_square_bound);
  }
}

TEST_CASE("a generic cell without parts holds what is programmed") {
  const auto cell = preset_cell("generic_exact");
  const Crowd crowd(*cell, 37, 10);
  CHECK(crowd.programmed_us == crowd.target_us);
  CHECK(crowd.read_at(*cell, 1e9) == crowd.target_us);
}

TEST_CASE("read noise of a generic cell follows the conductance at the time of the read") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "read_noise": {"sd_us": 3, "sd_of_value": 0.1,
                                  "sd_of_g_max": 0.12}})");
  CHECK(read_sd(*cell, 99, 40, 0) == Approx(13));  // 3, 4 and 12 in quadrature
}

TEST_CASE("drift of a generic cell has the given exponents") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "drift": {"mean": 0.05, "sd": 0.01, "t0_s": 10}})");
  const Crowd crowd(*cell, 50, count);
  std::vector<double> nu;
  for (const double g : crowd.at(*cell, 990)) nu.push_back(-std::log(g / 50) / std::log(100.0));
  CHECK(chi_square_of_normal(nu, .05, .01) < chi_square_bound);
}

TEST_CASE("retention falls exponentially to the resting conductance") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "retention": {"time_constant_s": 1000, "rest_us": 10}})");
  const Crowd crowd(*cell, 50, 1);
  CHECK(crowd.at(*cell, 0)[0] == 50);
  CHECK(crowd.at(*cell, 1000 * std::log(2.0))[0] == Approx(30));
  CHECK(crowd.at(*cell, 1e9)[0] == Approx(10));
}

TEST_CASE("temperature changes the conductance of any cell by its coefficient, at any time, stuck devices included") {
  const std::string warm =
      R"(, "temperature": {"temperature_k": 350, "reference_k": 300, "coefficient_per_k": -0.002})";
  const auto exact = cell_from(R"({"preset": "generic_exact")" + warm + "}");
  CHECK(Crowd(*exact, 50, 1).at(*exact, 0)[0] == Approx(45));
  const std::string stuck = R"(, "device_to_device": {"stuck_on_fraction": 0.2})";
  for (const char* preset : {"pcm_joshi_2020", "rram_wan_2022_aihwkit", "sonos_agrawal_2022"}) {
    INFO(preset);
    const std::string start = std::string(R"({"preset": ")") + preset + "\"" + stuck;
    const auto cold = cell_from(start + "}"), hot = cell_from(start + warm + "}");
    const double target_us = cold->g_max_us() / 2;
    const Crowd written(*cold, target_us, 1000), again(*hot, target_us, 1000);
    CHECK(again.programmed_us == written.programmed_us);
    for (const double t_s : {cold->time_range().first_s, 3600.0}) {
      const std::vector<double> before = written.at(*cold, t_s), after = again.at(*hot, t_s);
      for (std::size_t i = 0; i < before.size(); ++i) CHECK(after[i] == Approx(0.9 * before[i]));
    }
  }
  CHECK_THROWS_WITH(cell_from(R"({"preset": "generic_exact", "temperature": {"temperature_k": 900, "reference_k": 300,
                                  "coefficient_per_k": -0.002}})"),
                    Catch::Contains("coefficient_per_k"));
}

TEST_CASE("device-to-device spread has mean 1 and stays with the device through writes and time") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "device_to_device": {"spread": 0.1}})");
  const Crowd crowd(*cell, 50, count);
  std::vector<double> logarithms;
  for (const double g : crowd.programmed_us) logarithms.push_back(std::log(g / 50));
  CHECK(chi_square_of_normal(logarithms, -.005, .1) < chi_square_bound);
  const Moments m = moments(crowd.programmed_us);
  CHECK(std::abs(m.mean - 50) < five_sigma * m.mean_error);

  zbphw::DeviceRange later = crowd.devices;
  later.write = 7;
  std::vector<double> again(count);
  cell->program(crowd.target_us.data(), later, again.data());
  CHECK(again == crowd.programmed_us);
  const std::vector<double> much_later = crowd.at(*cell, 1e6);
  for (std::size_t i = 0; i < 100; ++i) CHECK(much_later[i] == Approx(again[i]).epsilon(1e-14));
}

TEST_CASE("a cell relaxes from its own state, not from its device's factor") {
  // Without programming noise, a device that is off by its factor must not look like one that was programmed badly.
  const std::string fit = R"({"model": "rram_wan", "g_max_us": 40, "unit_us": 1, "spread": [
      {"t_s": 1, "sd_us": [1]}, {"t_s": 100, "sd_us": [3]}])";
  const auto plain = cell_from(fit + "}");
  const auto varied = cell_from(fit + R"(, "device_to_device": {"spread": 0.2}})");
  const Crowd a(*plain, 20, 1000), b(*varied, 20, 1000);
  const std::vector<double> plain_us = a.at(*plain, 100), varied_us = b.at(*varied, 100);
  for (std::size_t i = 0; i < 1000; ++i) {
    const double factor = b.programmed_us[i] / a.programmed_us[i];
    CHECK(varied_us[i] == Approx(factor * plain_us[i]).margin(1e-12));
  }
}

TEST_CASE("stuck devices come in the asked fractions, at positions of the seed, and ignore writes and time") {
  const auto cell = cell_from(R"({"preset": "pcm_joshi_2020",
      "device_to_device": {"stuck_off_fraction": 0.02, "stuck_on_fraction": 0.005}})");
  const Crowd crowd(*cell, 10, count);
  std::vector<zbphw::DeviceFault> faults(count);
  cell->faults(crowd.devices, faults.data());
  const std::vector<double> later = crowd.at(*cell, 1e6);
  double off = 0, on = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_off = faults[i] == zbphw::DeviceFault::stuck_off, is_on = faults[i] == zbphw::DeviceFault::stuck_on;
    off += is_off;
    on += is_on;
    if (is_off) REQUIRE((crowd.programmed_us[i] == 0 && later[i] == 0));
    if (is_on) REQUIRE((crowd.programmed_us[i] == 25 && later[i] == 25));
    if (!is_off && !is_on) REQUIRE((crowd.programmed_us[i] > 0 && crowd.programmed_us[i] < 25));
  }
  const double n = count;
  CHECK(std::abs(off - .02 * n) < five_sigma * std::sqrt(n * .02 * .98));
  CHECK(std::abs(on - .005 * n) < five_sigma * std::sqrt(n * .005 * .995));

  std::vector<zbphw::DeviceFault> other(count);
  zbphw::DeviceRange devices = crowd.devices;
  devices.write = 3;
  cell->faults(devices, other.data());
  CHECK(other == faults);
  devices.seed = 2;
  cell->faults(devices, other.data());
  CHECK(other != faults);
}
