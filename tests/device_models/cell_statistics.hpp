// What the statistical tests of device models share. Bounds are five standard errors: a correct model fails such a
// check once in 1.7 million seeds, and the seeds are fixed.
#pragma once

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device_models/cells/make_cell.hpp"

constexpr double five_sigma = 5.0;

struct Moments {
  double mean = 0;
  double sd = 0;
  double mean_error = 0;  // standard errors
  double sd_error = 0;
};

// The error of the standard deviation comes from the sample's own fourth moment.
inline Moments moments(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double mean = 0, m2 = 0, m4 = 0;
  for (const double v : values) mean += v / n;
  for (const double v : values) {
    const double square = (v - mean) * (v - mean);
    m2 += square / n;
    m4 += square * square / n;
  }
  return {mean, std::sqrt(m2), std::sqrt(m2 / n), std::sqrt(std::max(m4 - m2 * m2, 0.0) / n) / (2 * std::sqrt(m2))};
}

inline double correlation(const std::vector<double>& a, const std::vector<double>& b) {
  const Moments ma = moments(a), mb = moments(b);
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += (a[i] - ma.mean) * (b[i] - mb.mean);
  return sum / static_cast<double>(a.size()) / (ma.sd * mb.sd);
}

inline std::unique_ptr<zbphw::CellModel> cell_from(const std::string& json) {
  return zbphw::make_cell({zbphw::Json::parse(json), "$.cell"});
}

inline std::unique_ptr<zbphw::CellModel> preset_cell(const std::string& name) {
  return cell_from(R"({"preset": ")" + name + R"("})");
}

// Many devices of one array with the same target.
struct Crowd {
  zbphw::DeviceRange devices;
  std::vector<double> target_us;
  std::vector<double> programmed_us;

  Crowd(const zbphw::CellModel& cell, double target, std::size_t count, std::uint64_t seed = 1)
      : target_us(count, target), programmed_us(count) {
    devices.seed = seed;
    devices.count = count;
    cell.program(target_us.data(), devices, programmed_us.data());
  }

  std::vector<double> at(const zbphw::CellModel& cell, double t_s) const {
    std::vector<double> g(devices.count);
    cell.relax(target_us.data(), programmed_us.data(), devices, t_s, g.data());
    return g;
  }

  // One read of each device at t_s: the relaxed state with fresh read noise.
  std::vector<double> read_at(const zbphw::CellModel& cell, double t_s) const {
    std::vector<double> g = at(cell, t_s);
    std::vector<double> sd(g.size());
    cell.read_noise(programmed_us.data(), g.data(), g.size(), t_s, sd.data());
    const zbphw::RandomAt fresh(devices.seed, zbphw::stream_id("test read"));
    for (std::uint32_t i = 0; i < g.size(); ++i) g[i] += sd[i] * fresh.normal(i);
    return g;
  }
};

// The standard deviation of one read of a device at conductance_us that was programmed to programmed_us.
inline double read_sd(const zbphw::CellModel& cell, double programmed_us, double conductance_us, double t_s) {
  double sd = 0;
  cell.read_noise(&programmed_us, &conductance_us, 1, t_s, &sd);
  return sd;
}
