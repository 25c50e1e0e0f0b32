#include <catch2/catch.hpp>

#include "base/config_file.hpp"
#include "cell_statistics.hpp"

using zbphw::CellModel;

namespace {

constexpr double pi = 3.14159265358979323846;

double standard_normal(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * pi); }

// The integral of f(z) against the standard normal density, by the trapezoid rule on a fine grid.
template <class F>
double expectation(const F& f) {
  constexpr double step = 1e-3;
  double sum = 0;
  for (int k = -9000; k <= 9000; ++k) sum += f(k * step) * standard_normal(k * step) * step;
  return sum;
}

// Mean of |m + s z|.
double folded_normal_mean(double m, double s) {
  return s * std::sqrt(2 / pi) * std::exp(-m * m / (2 * s * s)) + m * std::erf(m / (s * std::sqrt(2.0)));
}

// The drift exponents of a crowd, from how far it drifted.
std::vector<double> exponents(const CellModel& cell, const Crowd& crowd, double t0_s) {
  const double t_s = 1e6;
  const std::vector<double> g = crowd.at(cell, t_s);
  std::vector<double> nu;
  for (std::size_t i = 0; i < g.size(); ++i) {
    if (crowd.programmed_us[i] > 0) nu.push_back(-std::log(g[i] / crowd.programmed_us[i]) / std::log(t_s / t0_s + 1));
  }
  return nu;
}

}  // namespace

TEST_CASE("pcm_joshi has the moments of the quadrature reference") {
  const zbphw::Json reference = zbphw::load_json_file(std::string(ZBPHW_TEST_DATA) + "/pcm_joshi_moments.json");
  const auto cell = preset_cell("pcm_joshi_2020");
  REQUIRE(reference["rows"].size() == 25);
  double target_us = -1;
  std::unique_ptr<Crowd> crowd;
  for (const zbphw::Json& row : reference["rows"]) {
    if (row["target_us"] != target_us) {
      target_us = row["target_us"];
      crowd = std::make_unique<Crowd>(*cell, target_us, 250000);
    }
    const double t_s = row["t_s"], mean_us = row["mean_us"], sd_us = row["sd_us"];
    const Moments m = moments(crowd->read_at(*cell, t_s));
    INFO("target " << target_us << " uS, t " << t_s << " s, mean " << m.mean << ", sd " << m.sd);
    REQUIRE(five_sigma * m.mean_error < .005 * mean_us);
    REQUIRE(five_sigma * m.sd_error < .02 * sd_us);
    CHECK(std::abs(m.mean - mean_us) < five_sigma * m.mean_error);
    CHECK(std::abs(m.sd - sd_us) < five_sigma * m.sd_error);
  }
}

TEST_CASE("pcm_joshi has the moments of an independent quadrature at other targets and times") {
  // First 0.5 uS after ten days, where clipping and folding matter: a programmed state at zero is 1.65 standard
  // deviations away, and g = 0.02 is in the part of the drift fit that is not clamped.
  const struct {
    double target_us, t_s;
  } points[] = {{.5, 864000}, {1.1, 0}, {3.7, 5}, {7.9, 4000}, {14.2, 7e5}, {19, 2592000}, {24.9, 100}};
  const auto cell = preset_cell("pcm_joshi_2020");
  for (const auto& [target_us, t_s] : points) {
    const double g = target_us / 25, t0 = 20, t_read = 250e-9;
    const double s = .26348 + 1.9650 * g - 1.1731 * g * g;
    const double m = std::min(std::max(-.0155 * std::log(g) + .0244, .049), .1);
    const double d = std::min(std::max(-.0125 * std::log(g) - .0059, .008), .045);
    const double ratio = (t_s + t0) / t0;
    const auto drift = [&](double z) { return std::pow(ratio, -std::abs(m + d * z)); };
    const auto programmed = [&, target = target_us](double z) { return std::max(0.0, target + s * z); };
    const double log_time = std::log((t_s + t0 + t_read) / (2 * t_read));
    const auto read_square = [&](double z) {
      const double g_p = programmed(z);
      const double q = std::min(.0088 / std::max(std::pow(g_p / 25, .65), 1e-3), .2);
      return g_p * g_p * (1 + q * q * log_time);
    };
    const double mean = expectation(programmed) * expectation(drift);
    const double square = expectation(read_square) * expectation([&](double z) { return drift(z) * drift(z); });
    const double sd = std::sqrt(square - mean * mean);

    const Moments got = moments(Crowd(*cell, target_us, 400000).read_at(*cell, t_s));
    INFO("target " << target_us << " uS, t " << t_s << " s");
    CHECK(std::abs(got.mean - mean) < five_sigma * got.mean_error);
    CHECK(std::abs(got.sd - sd) < five_sigma * got.sd_error);
    CHECK(std::abs(got.mean - mean) < .005 * mean);
    CHECK(std::abs(got.sd - sd) < .02 * sd);
  }
}

TEST_CASE("the drift exponent is a folded normal, drawn once for each device") {
  const auto cell = preset_cell("pcm_joshi_2020");
  // m = .085036, d = .043 at g = .02: 2.4 % of the devices are folded.
  const Moments nu = moments(exponents(*cell, Crowd(*cell, .5, 400000), 20));
  const double expected = folded_normal_mean(-.0155 * std::log(.02) + .0244, -.0125 * std::log(.02) - .0059);
  CHECK(std::abs(nu.mean - expected) < five_sigma * nu.mean_error);
  CHECK(expected - .085036 > five_sigma * nu.mean_error);  // the sample is large enough to see the folding
}

TEST_CASE("a target of zero is rectified: its mean is s / sqrt(2 pi), .399 s") {
  const auto cell = preset_cell("pcm_joshi_2020");
  const Moments programmed = moments(Crowd(*cell, 0, 400000).programmed_us);
  CHECK(std::abs(programmed.mean - .398942 * .26348) < five_sigma * programmed.mean_error);
}

TEST_CASE("pcm_hermes programs, drifts and reads with the published numbers of one and of two devices") {
  struct Published {
    std::string preset;
    double g_max, t0, programming_sd, drift_mean, drift_sd, noise;
  };
  // The fits' values at half of g_max, worked out by hand from their coefficients.
  const std::vector<Published> published = {{"pcm_hermes_one_device", 10.35, 200, .8653129, .0564, .012075, .0217},
                                            {"pcm_hermes_two_devices", 20.7, 300, .9910130, .0564, .009, .0167125}};
  for (const Published& p : published) {
    INFO(p.preset);
    const auto cell = preset_cell(p.preset);
    CHECK(cell->g_max_us() == p.g_max);
    const Crowd crowd(*cell, p.g_max / 2, 200000);
    const Moments programmed = moments(crowd.programmed_us);
    CHECK(std::abs(programmed.mean - p.g_max / 2) < five_sigma * programmed.mean_error);
    CHECK(std::abs(programmed.sd - p.programming_sd) < five_sigma * programmed.sd_error);
    const Moments nu = moments(exponents(*cell, crowd, p.t0));
    CHECK(std::abs(nu.mean - p.drift_mean) < five_sigma * nu.mean_error);
    CHECK(std::abs(nu.sd - p.drift_sd) < five_sigma * nu.sd_error);
    // ln((t0 + 512 ns) / (2 * 512 ns)) at t = 0, times the conductance.
    const double growth = std::sqrt(std::log(p.t0 / 1.024e-6));
    CHECK(read_sd(*cell, p.g_max / 2, 3, 0) == Approx(3 * p.noise * growth).epsilon(1e-6));
  }
}

TEST_CASE("pcm_hermes takes the clamped logarithms at low conductance") {
  const auto one = preset_cell("pcm_hermes_one_device");
  // g = .05: m = .0977348 and d = .0336488 by the logarithms.
  const Moments nu = moments(exponents(*one, Crowd(*one, .05 * 10.35, 200000), 200));
  CHECK(std::abs(nu.mean - folded_normal_mean(.0977348, .0336488)) < five_sigma * nu.mean_error);
  const double growth = std::sqrt(std::log(200 / 1.024e-6));
  CHECK(read_sd(*one, .05 * 10.35, 1, 0) == Approx(.02716671 * growth).epsilon(1e-5));  // -.0078 ln .05 + .0038
  CHECK(read_sd(*one, .001 * 10.35, 1, 0) == Approx(.04 * growth).epsilon(1e-6));       // clamped above
  CHECK(read_sd(*one, .15 * 10.35, 1, 0) == Approx(.01859754 * growth).epsilon(1e-5));
}

TEST_CASE("1/f noise of a phase-change cell is there at t = 0 and grows with the logarithm of time") {
  const auto cell = preset_cell("pcm_joshi_2020");
  // Q(1) = .0088; sqrt(ln(20 / 500e-9)) = 4.18382, sqrt(ln(1000020 / 500e-9)) = 5.32205.
  CHECK(read_sd(*cell, 25, 25, 0) == Approx(25 * .0088 * 4.18382).epsilon(1e-4));
  CHECK(read_sd(*cell, 25, 20, 1e6) == Approx(20 * .0088 * 5.32205).epsilon(1e-4));
  CHECK(read_sd(*cell, 0, 0, 1e6) == 0);
}
