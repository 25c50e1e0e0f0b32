#include "hw/crossbar/weight_mapping.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace zbphw {
namespace {

std::string position(std::int64_t output, std::int64_t input) {
  return "weight [" + std::to_string(output) + ", " + std::to_string(input) + "]";
}

void check_finite(const double* weights, std::int64_t outputs, std::int64_t inputs) {
  for (std::int64_t k = 0; k < outputs * inputs; ++k) {
    if (std::isfinite(weights[k])) continue;
    const std::string what = std::isnan(weights[k]) ? "not a number" : "infinite";
    throw data_error("weights", position(k / inputs, k % inputs) + " is " + what);
  }
}

// The largest weight of each output, never 0.
std::vector<double> full_scales(const WeightMappingConfig& config, const double* weights, std::int64_t outputs,
                                std::int64_t inputs) {
  std::vector<double> scales(static_cast<std::size_t>(outputs), config.weight_full_scale);
  if (config.scale == WeightScale::fixed) return scales;
  for (std::int64_t o = 0; o < outputs; ++o) {
    double largest = 0;
    for (std::int64_t i = 0; i < inputs; ++i) largest = std::max(largest, std::abs(weights[o * inputs + i]));
    scales[o] = largest;
  }
  if (config.scale == WeightScale::per_matrix) {
    std::fill(scales.begin(), scales.end(), *std::max_element(scales.begin(), scales.end()));
  }
  // An output of zeros only is represented by any scale.
  for (double& scale : scales) scale = scale > 0 ? scale : 1;
  return scales;
}

void refuse_beyond(double largest, std::int64_t count, double full_scale) {
  std::ostringstream message;
  message << count << " weights are beyond the representable range of +-" << full_scale
          << " (the largest has magnitude " << largest << "); set mapping.clip, or another mapping.scale";
  throw data_error("weights", message.str());
}

}  // namespace

ConductanceTargets map_weights(const WeightMappingConfig& config, const at::Tensor& weights, double g_min_us,
                               double g_max_us) {
  if (weights.dim() != 2 || weights.size(0) == 0 || weights.size(1) == 0) {
    std::ostringstream shape;
    shape << weights.sizes();
    throw config_error("weights", "shape " + shape.str() + "; expected [outputs, inputs], at least one of each");
  }
  const at::Tensor values = weights.detach().to(at::kCPU, at::kDouble).contiguous();
  const double* weight = values.data_ptr<double>();
  ConductanceTargets targets;
  targets.outputs = values.size(0);
  targets.inputs = values.size(1);
  check_finite(weight, targets.outputs, targets.inputs);
  const std::vector<double> scales = full_scales(config, weight, targets.outputs, targets.inputs);
  const auto cells = static_cast<std::size_t>(targets.inputs * targets.outputs);
  targets.plus_us.assign(cells, g_min_us);
  targets.minus_us.assign(cells, g_min_us);
  targets.weight_per_us.resize(scales.size());
  double largest = 0;
  for (std::int64_t o = 0; o < targets.outputs; ++o) {
    targets.weight_per_us[o] = scales[o] / (g_max_us - g_min_us);
    for (std::int64_t i = 0; i < targets.inputs; ++i) {
      const double w = weight[o * targets.inputs + i] / scales[o];
      largest = std::max(largest, std::abs(w));
      targets.clipped += std::abs(w) > 1 ? 1 : 0;
      const double share = std::min(std::abs(w), 1.0);
      (w > 0 ? targets.plus_us : targets.minus_us)[i * targets.outputs + o] += share * (g_max_us - g_min_us);
    }
  }
  if (targets.clipped > 0 && !config.clip) {
    refuse_beyond(largest * config.weight_full_scale, targets.clipped, config.weight_full_scale);
  }
  return targets;
}

}  // namespace zbphw
