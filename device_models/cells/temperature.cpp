#include "device_models/cells/temperature.hpp"

#include <utility>

namespace zbphw {
namespace {

class CellAtTemperature : public CellModel {
 public:
  CellAtTemperature(std::unique_ptr<CellModel> cell, const TemperatureConfig& config)
      : CellModel({cell->name(), cell->config()}),
        cell_(std::move(cell)),
        factor_(1 + config.coefficient_per_k * (config.temperature_k - config.reference_k)) {}

  double g_min_us() const override { return cell_->g_min_us(); }
  double g_max_us() const override { return cell_->g_max_us(); }
  TimeRange time_range() const override { return cell_->time_range(); }
  void faults(const DeviceRange& devices, DeviceFault* faults) const override { cell_->faults(devices, faults); }

 private:
  void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const override {
    cell_->program(target_us, devices, programmed_us);
  }

  void relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                 double* conductance_us) const override {
    cell_->relax(target_us, programmed_us, devices, t_s, conductance_us);
    for (std::size_t i = 0; i < devices.count; ++i) conductance_us[i] *= factor_;
  }

  void read_noise_all(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                      double* deviation_us) const override {
    cell_->read_noise(programmed_us, conductance_us, count, t_s, deviation_us);
  }

  void check_time(double) const override {}  // the cell below checks

  std::unique_ptr<CellModel> cell_;
  double factor_;
};

}  // namespace

void describe(Fields& f, TemperatureConfig& c) {
  f.required().number("temperature_k", c.temperature_k, above(0), "temperature of the chip when it is read");
  f.required().number("reference_k", c.reference_k, above(0), "temperature at which it was programmed");
  f.required().number("coefficient_per_k", c.coefficient_per_k, any_number(), "relative change of conductance");
  f.require(1 + c.coefficient_per_k * (c.temperature_k - c.reference_k) >= 0, "coefficient_per_k",
            "makes conductances negative at this temperature");
}

std::unique_ptr<CellModel> read_at_temperature(std::unique_ptr<CellModel> cell, const TemperatureConfig& config) {
  return std::make_unique<CellAtTemperature>(std::move(cell), config);
}

}  // namespace zbphw
