#include "device_models/cells/device_to_device.hpp"

#include <cmath>
#include <utility>
#include <vector>

namespace zbphw {
namespace {

constexpr std::uint64_t spread_stream = stream_id("cell device to device");
constexpr std::uint64_t stuck_stream = stream_id("cell stuck devices");

class VaryingCell : public CellModel {
 public:
  VaryingCell(std::unique_ptr<CellModel> cell, const DeviceToDeviceConfig& config)
      : CellModel({cell->name(), cell->config()}), cell_(std::move(cell)), config_(config) {}

  double g_min_us() const override { return cell_->g_min_us(); }
  double g_max_us() const override { return cell_->g_max_us(); }
  TimeRange time_range() const override { return cell_->time_range(); }

  void faults(const DeviceRange& devices, DeviceFault* faults) const override {
    const RandomAt at = devices.for_life(stuck_stream);
    for (std::size_t i = 0; i < devices.count; ++i) {
      const double place = at.uniform(devices.element(i));
      faults[i] = place < config_.stuck_off_fraction                               ? DeviceFault::stuck_off
                  : place < config_.stuck_off_fraction + config_.stuck_on_fraction ? DeviceFault::stuck_on
                                                                                   : DeviceFault::none;
    }
  }

 private:
  void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const override {
    cell_->program(target_us, devices, programmed_us);
    const std::vector<double> factor = factors(devices);
    for (std::size_t i = 0; i < devices.count; ++i) programmed_us[i] *= factor[i];
    hold_stuck(devices, programmed_us);
  }

  // The cell relaxes from its own state, without the device's factor.
  void relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                 double* conductance_us) const override {
    const std::vector<double> factor = factors(devices);
    std::vector<double> cell_us(devices.count);
    for (std::size_t i = 0; i < devices.count; ++i) cell_us[i] = programmed_us[i] / factor[i];
    cell_->relax(target_us, cell_us.data(), devices, t_s, conductance_us);
    for (std::size_t i = 0; i < devices.count; ++i) conductance_us[i] *= factor[i];
    hold_stuck(devices, conductance_us);
  }

  void read_noise_all(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                      double* deviation_us) const override {
    cell_->read_noise(programmed_us, conductance_us, count, t_s, deviation_us);
  }

  void check_time(double) const override {}  // the cell below checks

  std::vector<double> factors(const DeviceRange& devices) const {
    const RandomAt at = devices.for_life(spread_stream);
    const double shift = -config_.spread * config_.spread / 2;
    std::vector<double> factor(devices.count);
    for (std::size_t i = 0; i < devices.count; ++i) {
      factor[i] = std::exp(config_.spread * at.normal(devices.element(i)) + shift);
    }
    return factor;
  }

  void hold_stuck(const DeviceRange& devices, double* conductance_us) const {
    std::vector<DeviceFault> stuck(devices.count);
    faults(devices, stuck.data());
    for (std::size_t i = 0; i < devices.count; ++i) {
      if (stuck[i] == DeviceFault::stuck_off) conductance_us[i] = g_min_us();
      if (stuck[i] == DeviceFault::stuck_on) conductance_us[i] = g_max_us();
    }
  }

  std::unique_ptr<CellModel> cell_;
  DeviceToDeviceConfig config_;
};

}  // namespace

void describe(Fields& f, DeviceToDeviceConfig& c) {
  f.number("spread", c.spread, between(0, 1), "lognormal spread of the factor of a device");
  f.number("stuck_off_fraction", c.stuck_off_fraction, between(0, 1), "devices that stay at g_min");
  f.number("stuck_on_fraction", c.stuck_on_fraction, between(0, 1), "devices that stay at g_max");
  f.require(c.stuck_off_fraction + c.stuck_on_fraction <= 1, "stuck_on_fraction",
            "the stuck fractions sum to more than 1");
}

std::unique_ptr<CellModel> vary_devices(std::unique_ptr<CellModel> cell, const DeviceToDeviceConfig& config) {
  return std::make_unique<VaryingCell>(std::move(cell), config);
}

}  // namespace zbphw
