// What every cell model promises, whatever its equations.
#include <catch2/catch.hpp>
#include <thread>

#include "base/config_file.hpp"
#include "base/config_path.hpp"
#include "cell_statistics.hpp"

using Catch::Contains;
using zbphw::CellModel;
using zbphw::DeviceRange;

namespace {

// One preset of each model with differences from device to device, so that every draw of the layer takes part.
const std::vector<std::string> every_model = {
    "pcm_joshi_2020", "pcm_hermes_one_device",         "rram_wan_2022_aihwkit",
    "rram_milo_2021", "rram_cmo_acceptance_2_percent", "sonos_agrawal_2022",
    "generic_exact"};

std::unique_ptr<CellModel> varied(const std::string& preset) {
  const std::string generic_parts = R"(, "programming": {"sd_us": 1}, "drift": {"mean": 0.05, "sd": 0.01, "t0_s": 1})";
  return cell_from(R"({"preset": ")" + preset + R"(")" + (preset == "generic_exact" ? generic_parts : "") +
                   R"(, "device_to_device": {"spread": 0.05, "stuck_off_fraction": 0.01}})");
}

double middle(const CellModel& cell) { return (cell.g_min_us() + cell.g_max_us()) / 2; }

double some_time(const CellModel& cell) { return std::min(cell.time_range().last_s, 10000.0); }

// Programmed and relaxed states of `devices`, all with the same target.
std::vector<double> states(const CellModel& cell, const DeviceRange& devices) {
  const std::vector<double> target(devices.count, middle(cell));
  std::vector<double> programmed(devices.count), relaxed(devices.count);
  cell.program(target.data(), devices, programmed.data());
  cell.relax(target.data(), programmed.data(), devices, some_time(cell), relaxed.data());
  programmed.insert(programmed.end(), relaxed.begin(), relaxed.end());
  return programmed;
}

// states() holds the programmed states first and the relaxed states after them.
std::vector<double> first_half(const std::vector<double>& s) {
  return {s.begin(), s.begin() + static_cast<std::ptrdiff_t>(s.size() / 2)};
}
std::vector<double> second_half(const std::vector<double>& s) {
  return {s.begin() + static_cast<std::ptrdiff_t>(s.size() / 2), s.end()};
}

DeviceRange range(std::uint32_t first, std::size_t count, std::uint64_t seed = 1) {
  DeviceRange devices;
  devices.seed = seed;
  devices.first = first;
  devices.count = count;
  return devices;
}

}  // namespace

TEST_CASE("every registered model has a preset in the tests of this file") {
  std::vector<std::string> models;
  for (const std::string& preset : every_model) models.push_back(preset_cell(preset)->name());
  std::sort(models.begin(), models.end());
  CHECK(models == zbphw::cell_model_names());
}

TEST_CASE("the same seed gives the same bits, whatever pieces an array is worked on in") {
  for (const std::string& preset : every_model) {
    INFO(preset);
    const auto cell = varied(preset);
    const std::vector<double> whole = states(*cell, range(0, 1000));
    CHECK(states(*cell, range(0, 1000)) == whole);
    std::vector<double> pieces(2000);
    std::vector<std::thread> threads;
    for (const auto& [first, count] : std::vector<std::pair<int, int>>{{613, 387}, {1, 612}, {0, 1}}) {
      threads.emplace_back([&pieces, &cell, first = first, count = count] {
        const std::vector<double> part = states(*cell, range(static_cast<std::uint32_t>(first), count));
        std::copy(part.begin(), part.begin() + count, pieces.begin() + first);
        std::copy(part.begin() + count, part.end(), pieces.begin() + 1000 + first);
      });
    }
    for (std::thread& thread : threads) thread.join();
    CHECK(pieces == whole);
  }
}

TEST_CASE("other seeds, arrays and writes give other, uncorrelated devices") {
  constexpr std::size_t count = 40000;
  const double bound = five_sigma / std::sqrt(double(count));
  for (const std::string& preset : every_model) {
    INFO(preset);
    // No stuck devices and no differences for life, which a second write shares on purpose.
    const auto cell = preset == "generic_exact" ? cell_from(R"({"preset": "generic_exact",
        "programming": {"sd_us": 1}})")
                                                : preset_cell(preset);
    const std::vector<double> base = states(*cell, range(0, count));
    DeviceRange other_array = range(0, count), other_write = range(0, count), other_attempt = range(0, count);
    other_array.array = 1;
    other_write.write = 1;
    other_attempt.attempt = 1;
    for (const DeviceRange& devices :
         {range(0, count, 2), range(count, count), other_array, other_write, other_attempt}) {
      const std::vector<double> other = states(*cell, devices);
      CHECK(std::abs(correlation(first_half(base), first_half(other))) < bound);
      // A second try within one write keeps the drift that goes with the write.
      if (devices.attempt == 0) CHECK(std::abs(correlation(second_half(base), second_half(other))) < bound);
    }
  }
}

TEST_CASE("neighbouring devices are independent") {
  constexpr std::size_t count = 40000;
  for (const std::string& preset : every_model) {
    if (preset == "generic_exact") continue;  // exact: nothing varies
    INFO(preset);
    const auto cell = preset_cell(preset);
    const Crowd crowd(*cell, middle(*cell), count);
    const std::vector<double> g = crowd.at(*cell, some_time(*cell));
    const std::vector<double> left(g.begin(), g.end() - 1), right(g.begin() + 1, g.end());
    CHECK(std::abs(correlation(left, right)) < five_sigma / std::sqrt(double(count)));
  }
}

TEST_CASE("drift and programming noise of a device are independent") {
  const auto cell = preset_cell("pcm_joshi_2020");
  const Crowd crowd(*cell, 12.5, 100000);
  std::vector<double> factor = crowd.at(*cell, 1e6);
  for (std::size_t i = 0; i < factor.size(); ++i) factor[i] /= crowd.programmed_us[i];
  CHECK(std::abs(correlation(factor, crowd.programmed_us)) < five_sigma / std::sqrt(1e5));
}

TEST_CASE(
    "at its first time a cell holds exactly what was programmed, and a question about a later day changes nothing") {
  for (const std::string& preset : every_model) {
    INFO(preset);
    const auto cell = preset_cell(preset);
    const Crowd crowd(*cell, middle(*cell), 1000);
    const double first_s = cell->time_range().first_s;
    const std::vector<double> before = crowd.at(*cell, first_s);
    const std::vector<double> later = crowd.at(*cell, some_time(*cell));
    CHECK(before == crowd.programmed_us);
    CHECK(crowd.at(*cell, first_s) == before);
    CHECK(crowd.at(*cell, some_time(*cell)) == later);
  }
}

TEST_CASE("states are never negative, and clipping is of the state and not of the read") {
  const auto cell =
      cell_from(R"({"preset": "generic_exact", "programming": {"sd_us": 5}, "read_noise": {"sd_us": 5}})");
  const Crowd crowd(*cell, 0, 10000);
  const std::vector<double> state = crowd.at(*cell, 1), read = crowd.read_at(*cell, 1);
  CHECK(*std::min_element(state.begin(), state.end()) == 0);
  CHECK(*std::min_element(read.begin(), read.end()) < -5);
}

TEST_CASE("targets outside the cell's range or not numbers are refused, rounding is not") {
  const auto cell = preset_cell("pcm_joshi_2020");
  DeviceRange devices = range(40, 3);
  std::vector<double> target = {1, 25 * (1 + 1e-12), 26}, programmed(3);
  CHECK_THROWS_WITH(cell->program(target.data(), devices, programmed.data()),
                    Contains("cell pcm_joshi: target conductance 26 uS of device 42 is outside 0 to 25 uS"));
  target[2] = -.1;
  CHECK_THROWS_AS(cell->program(target.data(), devices, programmed.data()), zbphw::Error);
  target[2] = std::nan("");
  CHECK_THROWS_AS(cell->program(target.data(), devices, programmed.data()), zbphw::Error);
  target[2] = 0;
  CHECK_NOTHROW(cell->program(target.data(), devices, programmed.data()));
}

TEST_CASE("every shipped cell preset loads, names its source and works") {
  std::size_t cells = 0;
  const std::vector<std::string> models = zbphw::cell_model_names();
  for (const std::string& name : zbphw::preset_names("devices/presets")) {
    const zbphw::Json json = zbphw::load_json_file(zbphw::find_preset("devices/presets", name, "$"));
    const auto model = json.find("model");
    if (model == json.end() || std::find(models.begin(), models.end(), *model) == models.end()) continue;
    INFO(name);
    const auto cell = preset_cell(name);
    CHECK(json["source"].get<std::string>().size() > 20);
    CHECK(cell->config()["source"] == json["source"]);
    const Crowd crowd(*cell, middle(*cell), 10);
    for (const double g : crowd.read_at(*cell, cell->time_range().first_s)) CHECK(std::isfinite(g));
    ++cells;
  }
  CHECK(cells >= 10);
}

TEST_CASE("the effective configuration of a cell makes the same cell again") {
  for (const std::string& preset : every_model) {
    INFO(preset);
    const auto cell = varied(preset);
    const auto again = zbphw::make_cell({cell->config(), "$"});
    CHECK(again->config() == cell->config());
    CHECK(states(*again, range(0, 100)) == states(*cell, range(0, 100)));
  }
}

TEST_CASE("a bad cell is refused with its path and what is allowed") {
  CHECK_THROWS_WITH(cell_from("{}"), Contains("$.cell.model: is missing; allowed: generic, pcm_hermes"));
  CHECK_THROWS_WITH(cell_from(R"({"model": 3})"), Contains("$.cell.model: got 3"));
  CHECK_THROWS_WITH(cell_from(R"({"model": "pcm_joshy"})"), Contains("did you mean 'pcm_joshi'?"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2021"})"), Contains("did you mean 'pcm_joshi_2020'?"));
  CHECK_THROWS_WITH(cell_from(R"({"model": "pcm_joshi"})"), Contains("$.cell.g_max_us: is missing"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2020", "g_max_su": 20})"),
                    Contains("unknown key 'g_max_su'; did you mean 'g_max_us'?"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2020", "t0_s": 0})"),
                    Contains("t0_s: got 0; allowed: a number above 0"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2020", "programming_sd_us": []})"), Contains("at least one"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2020", "drift_mean": {"low": 1}})"),
                    Contains("drift_mean.low: is above high"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2020", "device_to_device": {"stuck_off_fraction": 2}})"),
                    Contains("device_to_device.stuck_off_fraction: got 2"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_joshi_2020", "device_to_device": {"stuck_off_fraction": 0.7,
                                  "stuck_on_fraction": 0.7}})"),
                    Contains("sum to more than 1"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "pcm_hermes_one_device", "drift_sd": {"above": [1, "x"]}})"),
                    Contains("drift_sd.above[1]: got \"x\""));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "rram_wan_2022_aihwkit", "spread": []})"), Contains("at least one entry"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "rram_wan_2022_aihwkit", "spread": [{"t_s": 2, "sd_us": [1]},
                                  {"t_s": 1, "sd_us": [1]}]})"),
                    Contains("times that rise"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "rram_milo_2021", "g_min_us": 300})"), Contains("not below g_max_us"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "rram_cmo_acceptance_2_percent", "g_min_us": 0.5})"),
                    Contains("g_min_us: got 0.5; allowed: a number of at least 1"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "sonos_agrawal_2022", "read_voltage_v": 0})"), Contains("above 0"));
  CHECK_THROWS_WITH(cell_from(R"({"preset": "generic_exact", "drift": {"mean": 0.1}})"),
                    Contains("drift.t0_s: is missing"));
}

TEST_CASE("a model's keys can be listed with their units") {
  const std::vector<zbphw::FieldRow> rows = zbphw::explain_cell_model("pcm_joshi");
  const auto t0 = std::find_if(rows.begin(), rows.end(), [](const auto& r) { return r.path == "t0_s"; });
  REQUIRE(t0 != rows.end());
  CHECK(t0->unit == "s");
  CHECK(std::any_of(rows.begin(), rows.end(), [](const auto& r) { return r.path == "device_to_device.spread"; }));
  CHECK_THROWS_AS(zbphw::explain_cell_model("no_such_cell"), zbphw::Error);
}
