#include "device_models/pulsed/pulsed_device.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include "device_models/registered_model.hpp"

namespace zbphw {
namespace {

constexpr std::uint64_t step_stream = stream_id("pulsed step of a device");
constexpr std::uint64_t asymmetry_stream = stream_id("pulsed asymmetry of a device");
constexpr std::uint64_t low_stream = stream_id("pulsed lower bound of a device");
constexpr std::uint64_t high_stream = stream_id("pulsed upper bound of a device");
constexpr std::uint64_t cycle_stream = stream_id("pulsed cycle to cycle");

}  // namespace

void describe_pulsed(Fields& f, PulsedCommon& c) {
  f.required().text("model", c.model, "the model's name");
  f.text("source", c.source, "where the constants come from");
  f.required().number("w_min", c.w_min, {-std::numeric_limits<double>::infinity(), 0, false, true}, "smallest weight");
  f.required().number("w_max", c.w_max, above(0), "largest weight");
  f.required().number("step", c.step, above(0), "step of one pulse, where the model's curve is 1");
  f.number("up_down", c.up_down, between(-1, 1), "asymmetry: up steps are larger by it, down steps smaller");
  f.number("cycle_to_cycle", c.cycle_to_cycle, at_least(0), "standard deviation of a step, of the step");
  f.number("device_to_device", c.device_to_device, at_least(0), "standard deviation of the devices' steps, relative");
  f.number("up_down_device_sd", c.up_down_device_sd, at_least(0), "standard deviation of the devices' asymmetry");
  f.number("bound_device_sd", c.bound_device_sd, at_least(0), "standard deviation of the devices' bounds, relative");
}

void PulsedDevice::bounds(const DeviceRange& devices, WeightBounds* bounds) const {
  const RandomAt low = devices.for_life(low_stream), high = devices.for_life(high_stream);
  for (std::size_t i = 0; i < devices.count; ++i) {
    const std::uint32_t element = devices.element(i);
    bounds[i] = {common_.w_min * std::abs(1 + common_.bound_device_sd * low.normal(element)),
                 common_.w_max * std::abs(1 + common_.bound_device_sd * high.normal(element))};
  }
}

void PulsedDevice::pulse(const std::int32_t* pulses, const DeviceRange& devices, double* weights) const {
  std::vector<WeightBounds> all_bounds(devices.count);
  bounds(devices, all_bounds.data());
  const RandomAt step_at = devices.for_life(step_stream), asymmetry_at = devices.for_life(asymmetry_stream);
  const RandomAt cycle_at = devices.for_write(cycle_stream);
  for (std::size_t i = 0; i < devices.count; ++i) {
    const std::uint32_t element = devices.element(i);
    const bool up = pulses[i] > 0;
    const double sign = up ? 1 : -1;
    const double asymmetry = common_.up_down + common_.up_down_device_sd * asymmetry_at.normal(element);
    const double step = common_.step * std::abs(1 + common_.device_to_device * step_at.normal(element));
    const double signed_step = sign * step * std::max(1 + sign * asymmetry, 0.0);
    const auto count = static_cast<std::uint32_t>(std::abs(static_cast<std::int64_t>(pulses[i])));
    for (std::uint32_t k = 0; k < count; ++k) {
      const double noise = 1 + common_.cycle_to_cycle * cycle_at.with_query(k).normal(element);
      const double moved = weights[i] + signed_step * relative_step(weights[i], all_bounds[i], up) * noise;
      weights[i] = std::clamp(moved, all_bounds[i].low, all_bounds[i].high);
    }
  }
}

std::unique_ptr<PulsedDevice> make_pulsed_device(const RawConfig& config) {
  return make_registered_model<PulsedKind>(config, "pulsed model");
}

std::vector<std::string> pulsed_model_names() { return Registry<PulsedKind>::instance().names(); }

std::vector<FieldRow> explain_pulsed_model(const std::string& name) {
  return Registry<PulsedKind>::instance().at(name, "pulsed model", "").explain();
}

}  // namespace zbphw
