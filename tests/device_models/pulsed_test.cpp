#include <catch2/catch.hpp>
#include <limits>

#include "base/config_file.hpp"
#include "base/config_path.hpp"
#include "cell_statistics.hpp"
#include "device_models/pulsed/pulsed_device.hpp"

using Catch::Contains;
using zbphw::DeviceRange;

namespace {

std::unique_ptr<zbphw::PulsedDevice> device_from(const std::string& json) {
  return zbphw::make_pulsed_device({zbphw::Json::parse(json), "$.device"});
}

// A model with weights from -0.5 to 1 and a step of 0.01, and whatever keys are added.
std::unique_ptr<zbphw::PulsedDevice> plain(const std::string& model_and_keys) {
  return device_from(R"({"w_min": -0.5, "w_max": 1, "step": 0.01, "model": )" + model_and_keys + "}");
}

DeviceRange range(std::size_t count, std::uint32_t first = 0, std::uint32_t update = 0) {
  DeviceRange devices;
  devices.seed = 1;
  devices.first = first;
  devices.count = count;
  devices.write = update;
  return devices;
}

// The weight of one device after pulses from a start.
double after(const zbphw::PulsedDevice& device, double start, std::int32_t pulses) {
  device.pulse(&pulses, range(1), &start);
  return start;
}

// The weights of many devices after the same pulses from 0.
std::vector<double> crowd(const zbphw::PulsedDevice& device, std::int32_t pulses, std::size_t count = 200000,
                          std::uint32_t update = 0) {
  const std::vector<std::int32_t> all(count, pulses);
  std::vector<double> weights(count, 0.0);
  device.pulse(all.data(), range(count, 0, update), weights.data());
  return weights;
}

const std::string constant_step = R"("linear_step", "slope_up": 0, "slope_down": 0)";

}  // namespace

TEST_CASE("soft bounds approach their bounds geometrically") {
  const auto device = plain(R"("soft_bounds")");
  CHECK(after(*device, 0, 100) == Approx(1 - std::pow(.99, 100)));
  CHECK(after(*device, 0, -100) == Approx(-.5 * (1 - std::pow(.98, 100))));
  CHECK(after(*device, 1, 10) == Approx(1));
}

TEST_CASE("a linear step runs to where its line would end, and is held at the bound") {
  const auto device = plain(R"("linear_step", "slope_up": 0.5, "slope_down": 0.25)");
  // Up: w' = 0.01 (1 - w / 2), towards 2; down: w' = -0.01 (1 + w / 2), towards -2.
  CHECK(after(*device, 0, 50) == Approx(2 * (1 - std::pow(.995, 50))));
  CHECK(after(*device, 0, -40) == Approx(-2 * (1 - std::pow(.995, 40))));
  CHECK(after(*device, 0, 10000) == 1);
  CHECK(after(*device, 0, -10000) == -.5);
}

TEST_CASE("the ECRAM preset has the published steps at its bounds") {
  const auto device = device_from(R"({"preset": "ecram_tang_2018", "cycle_to_cycle": 0, "device_to_device": 0})");
  CHECK(after(*device, 0, 1) == Approx(.002));
  CHECK(after(*device, 1.1724, -1) == Approx(1.1724 - .002 * (1 + .5085 * 1.1724 / .8276)));
  CHECK(after(*device, -.8276, 1) == Approx(-.8276 + .002 * (1 + .1153 * .8276 / 1.1724)));
}

TEST_CASE("an exponential step has the published form") {
  const auto device = plain(R"("exponential_step", "scale": 0.3, "offset": 0.2, "a_up": 0.1, "a_down": 0.4,
                               "gamma_up": 2, "gamma_down": 3)");
  // At w = 0.5, z = 2 * 0.3 * 0.5 / 1.5 + 0.2 = 0.4.
  CHECK(after(*device, .5, 1) == Approx(.5 + .01 * (1 - .1 * 2.225540928)));   // exp(0.8)
  CHECK(after(*device, .5, -1) == Approx(.5 - .01 * (1 - .4 * .3011942119)));  // exp(-1.2)
  const auto dead = plain(R"("exponential_step", "scale": 1, "offset": 0, "a_up": 2, "a_down": 2,
                             "gamma_up": 1, "gamma_down": 1)");
  CHECK(after(*dead, 0, 1) == 0);
}

TEST_CASE("a power step is a power of the way that is left") {
  const auto device = plain(R"("power_step", "gamma_up": 2, "gamma_down": 0.5)");
  CHECK(after(*device, .25, 1) == Approx(.2525));  // u = 1/2
  CHECK(after(*device, .25, -1) == Approx(.25 - .01 * std::sqrt(.5)));
  CHECK(after(*device, 1, 1) == 1);
  CHECK(after(*device, 1, -1) == Approx(.99));
}

TEST_CASE("cycle-to-cycle noise is fresh for every pulse and every update") {
  const auto device = plain(constant_step + R"(, "cycle_to_cycle": 0.3)");
  const std::vector<double> ten = crowd(*device, 10);
  const Moments m = moments(ten);
  CHECK(std::abs(m.mean - .1) < five_sigma * m.mean_error);
  CHECK(std::abs(m.sd - .01 * .3 * std::sqrt(10.0)) < five_sigma * m.sd_error);
  CHECK(std::abs(correlation(ten, crowd(*device, 10, ten.size(), 1))) < five_sigma / std::sqrt(2e5));
}

TEST_CASE("device-to-device spread is of the step, and for life") {
  const auto device = plain(constant_step + R"(, "device_to_device": 0.1)");
  const std::vector<double> up = crowd(*device, 1);
  const Moments m = moments(up);
  CHECK(std::abs(m.mean - .01) < five_sigma * m.mean_error);
  CHECK(std::abs(m.sd - .001) < five_sigma * m.sd_error);
  CHECK(crowd(*device, 1, up.size(), 9) == up);
}

TEST_CASE("up and down steps differ by the asymmetry and by its spread") {
  const auto device = plain(constant_step + R"(, "up_down": 0.259)");
  CHECK(after(*device, 0, 1) == Approx(.01259));
  CHECK(after(*device, 0, -1) == Approx(-.00741));
  const auto spread = plain(constant_step + R"(, "up_down_device_sd": 0.01)");
  const std::vector<double> up = crowd(*spread, 1), down = crowd(*spread, -1);
  const Moments m = moments(up);
  CHECK(std::abs(m.sd - .0001) < five_sigma * m.sd_error);
  for (std::size_t i = 0; i < 100; ++i) CHECK(up[i] - down[i] == Approx(.02));
}

TEST_CASE("bounds differ from device to device and hold the weights") {
  const auto device = plain(constant_step + R"(, "bound_device_sd": 0.1, "cycle_to_cycle": 5)");
  constexpr std::size_t count = 50000;
  std::vector<zbphw::WeightBounds> bounds(count);
  device->bounds(range(count), bounds.data());
  std::vector<double> low, high;
  for (const zbphw::WeightBounds& b : bounds) {
    low.push_back(b.low);
    high.push_back(b.high);
  }
  CHECK(std::abs(moments(high).sd - .1) < five_sigma * moments(high).sd_error);
  CHECK(std::abs(moments(low).mean + .5) < five_sigma * moments(low).mean_error);
  CHECK(std::abs(correlation(low, high)) < five_sigma / std::sqrt(double(count)));
  const std::vector<double> weights = crowd(*device, 200, 500);
  for (std::size_t i = 0; i < weights.size(); ++i) CHECK((weights[i] >= low[i] && weights[i] <= high[i]));
}

TEST_CASE("no pulses leave a weight alone; pieces of an array give the same bits") {
  const auto device = device_from(R"({"preset": "gokmen_vlasov_2016", "bound_device_sd": 0.1})");
  std::vector<std::int32_t> pulses(300);
  for (std::size_t i = 0; i < pulses.size(); ++i) pulses[i] = static_cast<std::int32_t>(i % 7) - 3;
  std::vector<double> whole(300, .1), pieces(300, .1);
  device->pulse(pulses.data(), range(300), whole.data());
  device->pulse(pulses.data() + 101, range(199, 101), pieces.data() + 101);
  device->pulse(pulses.data(), range(101), pieces.data());
  CHECK(pieces == whole);
  CHECK(whole[3] == .1);
  CHECK(whole[4] > .1);
  CHECK(whole[0] < .1);
}

TEST_CASE("every shipped pulsed preset loads, names its source and steps") {
  std::size_t presets = 0;
  const std::vector<std::string> models = zbphw::pulsed_model_names();
  CHECK(models == std::vector<std::string>{"exponential_step", "linear_step", "power_step", "soft_bounds"});
  for (const std::string& name : zbphw::preset_names("devices/presets")) {
    const zbphw::Json json = zbphw::load_json_file(zbphw::find_preset("devices/presets", name, "$"));
    const auto model = json.find("model");
    if (model == json.end() || std::find(models.begin(), models.end(), *model) == models.end()) continue;
    INFO(name);
    const auto device = device_from(R"({"preset": ")" + name + R"("})");
    CHECK(json["source"].get<std::string>().size() > 20);
    CHECK(moments(crowd(*device, 20, 1000)).mean > 0);
    CHECK(device_from(device->config().dump())->config() == device->config());
    ++presets;
  }
  CHECK(presets >= 3);
}

TEST_CASE("a bad pulsed device is refused with its path and what is allowed") {
  CHECK_THROWS_WITH(device_from("{}"), Contains("$.device.model: is missing; allowed: exponential_step"));
  CHECK_THROWS_WITH(device_from(R"({"model": "linear_stop"})"), Contains("did you mean 'linear_step'?"));
  CHECK_THROWS_WITH(device_from(R"({"model": "soft_bounds", "w_min": 0, "w_max": 1, "step": 1})"),
                    Contains("w_min: got 0; allowed: a number below 0"));
  CHECK_THROWS_WITH(plain(R"("soft_bounds", "slope_up": 1)"), Contains("unknown key 'slope_up'"));
  CHECK_THROWS_WITH(plain(R"("linear_step", "slope_up": 1)"), Contains("slope_down: is missing"));
  CHECK_THROWS_WITH(plain(R"("soft_bounds", "cycle_to_cycle": -1)"), Contains("at least 0"));
  CHECK_THROWS_WITH(plain(R"("soft_bounds", "up_down": 2)"), Contains("from -1 to 1"));
  CHECK_THROWS_AS(zbphw::explain_pulsed_model("none"), zbphw::Error);
  CHECK(zbphw::explain_pulsed_model("power_step").size() == 12);
}
