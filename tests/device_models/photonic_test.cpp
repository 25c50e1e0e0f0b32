#include <catch2/catch.hpp>

#include "cell_statistics.hpp"
#include "device_models/photonic/phase_shifter.hpp"
#include "device_models/photonic/photodetector.hpp"

using Catch::Contains;
using zbphw::DeviceRange;
using zbphw::PhaseShifters;

namespace {

constexpr double pi = 3.14159265358979323846;

// The shipped preset with further keys.
PhaseShifters shifters(const std::string& more = "") {
  const std::string json = R"({"preset": "photonic_mesh")" + (more.empty() ? "" : ", " + more) + "}";
  return PhaseShifters(zbphw::read_phase_shifter({zbphw::Json::parse(json), "$.mesh"}));
}

DeviceRange chain(std::size_t count) {
  DeviceRange devices;
  devices.seed = 1;
  devices.count = count;
  return devices;
}

std::vector<double> phases_at(const PhaseShifters& mesh, const std::vector<double>& voltage_v,
                              std::uint32_t query = 0) {
  std::vector<double> phase_rad(voltage_v.size());
  mesh.phases(voltage_v.data(), chain(voltage_v.size()), query, phase_rad.data());
  return phase_rad;
}

std::vector<double> drive(const PhaseShifters& mesh, const std::vector<double>& phase_rad, std::size_t unreached = 0) {
  std::vector<double> voltage_v(phase_rad.size());
  CHECK(mesh.drive(phase_rad.data(), phase_rad.size(), voltage_v.data()) == unreached);
  return voltage_v;
}

}  // namespace

TEST_CASE("a phase grows with the square of the drive, pi at V_pi") {
  const std::vector<double> phase = phases_at(shifters(), {0, 2.18, 4.36, 8.72});
  CHECK(phase[0] == 0);
  CHECK(phase[1] == Approx(pi / 4));
  CHECK(phase[2] == Approx(pi));
  CHECK(phase[3] == Approx(4 * pi));
}

TEST_CASE("the drive gives the wanted phase back, modulo a full turn") {
  const PhaseShifters mesh = shifters();
  const std::vector<double> phase = phases_at(mesh, drive(mesh, {0, 1, pi, 6, 2 * pi + 1, -1}));
  const std::vector<double> expected = {0, 1, pi, 6, 1, 2 * pi - 1};
  for (std::size_t i = 0; i < phase.size(); ++i) CHECK(phase[i] == Approx(expected[i]).margin(1e-12));
}

TEST_CASE("phase bits divide the full turn, and its end is its beginning") {
  const PhaseShifters mesh = shifters(R"("phase_bits": 2)");
  const std::vector<double> phase = phases_at(mesh, drive(mesh, {.7, .8, 3, 5.4, 5.6, -.1}));
  const std::vector<double> expected = {0, pi / 2, pi, 3 * pi / 2, 0, 0};
  for (std::size_t i = 0; i < phase.size(); ++i) CHECK(phase[i] == Approx(expected[i]).margin(1e-12));
}

TEST_CASE("phases that V_max does not reach are counted and held there") {
  const PhaseShifters mesh = shifters(R"("v_max_v": 4.36)");
  CHECK(drive(mesh, {1, 3.5, 6}, 2)[2] == 4.36);
  CHECK(phases_at(mesh, {4.36})[0] == Approx(pi));
}

TEST_CASE("gamma differs from shifter to shifter for life") {
  const PhaseShifters mesh = shifters(R"("gamma_spread": 0.05)");
  const std::vector<double> phase = phases_at(mesh, std::vector<double>(100000, 4.36));
  const Moments m = moments(phase);
  CHECK(std::abs(m.mean - pi) < five_sigma * m.mean_error);
  CHECK(std::abs(m.sd - .05 * pi) < five_sigma * m.sd_error);
  CHECK(phases_at(mesh, std::vector<double>(100000, 4.36), 1) == phase);
}

TEST_CASE("phase noise is fresh in every query") {
  const PhaseShifters mesh = shifters(R"("phase_noise_rad": 0.02)");
  const std::vector<double> off(100000, 0.0);
  const std::vector<double> first = phases_at(mesh, off, 0), second = phases_at(mesh, off, 1);
  CHECK(std::abs(moments(first).mean) < five_sigma * moments(first).mean_error);
  CHECK(std::abs(moments(first).sd - .02) < five_sigma * moments(first).sd_error);
  CHECK(std::abs(correlation(first, second)) < five_sigma / std::sqrt(1e5));
  CHECK(phases_at(mesh, off, 0) == first);
}

TEST_CASE("thermal crosstalk spreads a heater's phase to its neighbours on both sides") {
  const std::vector<double> phase = phases_at(shifters(R"("crosstalk": [0.1, 0.02])"), {0, 0, 0, 4.36, 0, 4.36});
  const std::vector<double> expected = {0, .02, .1, 1.02, .2, 1.02};
  for (std::size_t i = 0; i < phase.size(); ++i) CHECK(phase[i] == Approx(pi * expected[i]).margin(1e-12));
}

TEST_CASE("a detector has shot noise of the light and its own noise") {
  // 1 mW at 1 A/W is 1 mA; sqrt(2 * 1.602177e-19 * 1e-3 * 1e9) = 566.07 nA in 1 GHz.
  const auto config = zbphw::read_config<zbphw::PhotodetectorConfig>(
      zbphw::Json::parse(R"({"responsivity_a_per_w": 1, "full_scale_power_mw": 1, "bandwidth_mhz": 1000,
                             "detector_noise_na": 300})"),
      "$");
  const std::vector<double> power = {0, 1, .25};
  std::vector<double> deviation(3);
  zbphw::photodetector_noise(config, power.data(), 3, deviation.data());
  CHECK(deviation[0] == Approx(300e-6));
  CHECK(deviation[1] == Approx(std::hypot(566.07e-6, 300e-6)).epsilon(1e-5));
  CHECK(deviation[2] == Approx(std::hypot(283.035e-6, 300e-6)).epsilon(1e-5));
}

TEST_CASE("what a mesh or detector cannot do is refused") {
  const PhaseShifters mesh = shifters();
  double value = 11, result = 0;
  CHECK_THROWS_WITH(mesh.phases(&value, chain(1), 0, &result), Contains("phase shifter 0: drive 11"));
  value = std::nan("");
  CHECK_THROWS_AS(mesh.phases(&value, chain(1), 0, &result), zbphw::Error);
  CHECK_THROWS_AS(mesh.drive(&value, 1, &result), zbphw::Error);
  CHECK_THROWS_AS(zbphw::photodetector_noise({}, &value, 1, &result), zbphw::Error);
  CHECK_THROWS_WITH(shifters(R"("phase_bits": 0)"), Contains("phase_bits: got 0") && Contains("ideal"));
  CHECK_THROWS_WITH(shifters(R"("crosstalk": [1.5])"), Contains("crosstalk[0]: got 1.5"));
  CHECK_THROWS_WITH(shifters(R"("model": "mesh")"), Contains("allowed: phase_shifter"));
  CHECK_THROWS_WITH(shifters(R"("v_pi": 3)"), Contains("unknown key 'v_pi'; did you mean 'v_pi_v'?"));
}
