// Devices that are trained in place: a weight moves by small steps, one for each voltage pulse.
//
//   up    w <- w + step_i (1 + a_i) f_up(w)   (1 + c z)
//   down  w <- w - step_i (1 - a_i) f_down(w) (1 + c z)      then held between w_min,i and w_max,i
//
// f is the model's curve (1 at a fresh state for most), c the cycle-to-cycle noise with a fresh z for each pulse, a_i
// the asymmetry of up and down. What has an index i differs from device to device for life:
//   step_i = step |1 + device_to_device z|,  a_i = up_down + up_down_device_sd z,
//   w_max,i = w_max |1 + bound_device_sd z|, and w_min,i likewise.
// Equations as in Gokmen and Vlasov, Frontiers in Neuroscience 10, 333 (2016) and IBM's aihwkit. Weights have no unit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "base/registry.hpp"
#include "device_models/device_range.hpp"

namespace zbphw {

struct PulsedCommon {
  std::string model;
  std::string source;
  double w_min = 0;
  double w_max = 0;
  double step = 0;
  double up_down = 0;
  double cycle_to_cycle = 0;
  double device_to_device = 0;
  double up_down_device_sd = 0;
  double bound_device_sd = 0;
};

void describe_pulsed(Fields& f, PulsedCommon& c);

struct WeightBounds {
  double low;
  double high;
};

class PulsedDevice {
 public:
  PulsedDevice(PulsedCommon common, Json config) : common_(std::move(common)), config_(std::move(config)) {}
  virtual ~PulsedDevice() = default;
  PulsedDevice(const PulsedDevice&) = delete;
  PulsedDevice& operator=(const PulsedDevice&) = delete;

  const Json& config() const { return config_; }

  // The range of each device's weight: bounds[count].
  void bounds(const DeviceRange& devices, WeightBounds* bounds) const;

  // Applies |pulses[i]| pulses, up when positive, to weights[i]; both [count]. devices.write is the number of the
  // update: each update has fresh noise.
  void pulse(const std::int32_t* pulses, const DeviceRange& devices, double* weights) const;

 private:
  // f_up or f_down at weight w of a device with these bounds; at least 0.
  virtual double relative_step(double w, const WeightBounds& bounds, bool up) const = 0;

  PulsedCommon common_;
  Json config_;
};

// From {"preset": "ecram_tang_2018", ...} or {"model": "linear_step", ...}, as make_cell(). Throws a config Error.
std::unique_ptr<PulsedDevice> make_pulsed_device(const RawConfig& config);

std::vector<std::string> pulsed_model_names();
std::vector<FieldRow> explain_pulsed_model(const std::string& name);

// The rest is for the models' own files.
struct PulsedKind {
  std::function<std::unique_ptr<PulsedDevice>(const Json& json, const std::string& where)> make;
  std::function<std::vector<FieldRow>()> explain;
};

template <class Own>
struct PulsedConfig {
  PulsedCommon common;
  Own own;
};

template <class Own>
void describe(Fields& f, PulsedConfig<Own>& c) {
  describe_pulsed(f, c.common);
  describe(f, c.own);
}

template <class Model, class Own>
std::unique_ptr<PulsedDevice> build_pulsed_device(const Json& json, const std::string& where) {
  const auto config = read_config<PulsedConfig<Own>>(json, where);
  return std::make_unique<Model>(config.common, write_config(config), config.own);
}

template <class Model, class Own>
struct PulsedRegistration : Registration<PulsedKind> {
  explicit PulsedRegistration(const std::string& name)
      : Registration<PulsedKind>(name, {build_pulsed_device<Model, Own>, explain_config<PulsedConfig<Own>>}) {}
};

}  // namespace zbphw
