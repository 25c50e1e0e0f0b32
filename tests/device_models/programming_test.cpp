#include "device_models/programming.hpp"

#include <catch2/catch.hpp>

#include "cell_statistics.hpp"

using Catch::Contains;

namespace {

zbphw::WriteVerifyConfig config_from(const std::string& json) {
  return zbphw::read_config<zbphw::WriteVerifyConfig>(zbphw::Json::parse(json), "$.write_verify");
}

struct Written {
  std::vector<double> target_us, programmed_us;
  zbphw::WriteVerifyResult result;

  Written(const zbphw::CellModel& cell, const std::string& json, std::size_t count)
      : target_us(count, 50), programmed_us(count) {
    zbphw::DeviceRange devices;
    devices.seed = 1;
    devices.count = count;
    result = zbphw::write_verify(cell, config_from(json), target_us.data(), devices, programmed_us.data());
  }

  double worst() const {
    double largest = 0;
    for (std::size_t i = 0; i < target_us.size(); ++i) {
      largest = std::max(largest, std::abs(programmed_us[i] - target_us[i]));
    }
    return largest;
  }

  double mean_iterations() const {
    double sum = 0;
    for (const std::uint32_t k : result.iterations) sum += k;
    return sum / static_cast<double>(result.iterations.size());
  }
};

}  // namespace

TEST_CASE("devices are written until they are in the window, as often as the odds of one write say") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "programming": {"sd_us": 2}})");
  const Written written(*cell, R"({"max_iterations": 1000, "acceptance_us": 1})", 100000);
  CHECK(written.result.rejected == 0);
  CHECK(written.worst() <= 1);
  // P(|z| < 1/2) = .3829249: the number of writes is geometric, mean 2.611478, standard deviation 2.0516.
  CHECK(std::abs(written.mean_iterations() - 2.611478) < five_sigma * 2.0516 / std::sqrt(1e5));
}

TEST_CASE("after the last write a device keeps what it got and is counted") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "programming": {"sd_us": 2}})");
  const Written written(*cell, R"({"max_iterations": 2, "acceptance_us": 1})", 100000);
  const double p = (1 - .3829249) * (1 - .3829249);
  CHECK(std::abs(static_cast<double>(written.result.rejected) - 1e5 * p) < five_sigma * std::sqrt(1e5 * p * (1 - p)));
  CHECK(written.worst() > 1);
}

TEST_CASE("one write without a window is plain programming") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "programming": {"sd_us": 2}})");
  const Written written(*cell, R"({"max_iterations": 1})", 1000);
  CHECK(written.programmed_us == Crowd(*cell, 50, 1000).programmed_us);
  CHECK(written.mean_iterations() == 1);
}

TEST_CASE("correction removes what differs from device to device; asking again does not") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "device_to_device": {"spread": 0.1}})");
  const std::string window = R"({"max_iterations": 20, "acceptance_us": 0.1, "correction": )";
  CHECK(Written(*cell, window + "1}", 10000).result.rejected == 0);
  CHECK(Written(*cell, window + "0}", 10000).result.rejected > 9000);
}

TEST_CASE("a stuck device uses all its writes") {
  const auto cell = cell_from(R"({"preset": "generic_exact", "device_to_device": {"stuck_on_fraction": 1}})");
  const Written written(*cell, R"({"max_iterations": 5, "acceptance_us": 1, "correction": 1})", 10);
  CHECK(written.result.rejected == 10);
  CHECK(written.mean_iterations() == 5);
}

TEST_CASE("a bad program-and-verify is refused") {
  CHECK_THROWS_WITH(config_from(R"({"max_iterations": 0})"), Contains("$.write_verify.max_iterations: got 0"));
  CHECK_THROWS_WITH(config_from(R"({"acceptance_us": -1})"), Contains("at least 0"));
  CHECK_THROWS_WITH(config_from(R"({"correction": 2})"), Contains("from 0 to 1"));
  CHECK_THROWS_WITH(config_from(R"({"iterations": 2})"), Contains("unknown key 'iterations'"));
}
