// From weights to the conductances that cells are asked for.
//
//   w > 0: G+ = g_min + w / w_max (g_max - g_min), G- = g_min;   w < 0: the other way round.
//
// So w = (G+ - G-) w_max / (g_max - g_min).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

#include "hw/crossbar/crossbar_config.hpp"

namespace zbphw {

struct ConductanceTargets {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::vector<double> plus_us;        // [inputs, outputs]
  std::vector<double> minus_us;       // [inputs, outputs]
  std::vector<double> weight_per_us;  // [outputs]: an output's current times this is in weight units
  std::int64_t clipped = 0;           // weights beyond a fixed scale
};

// `weights` [outputs, inputs]. Throws a data Error that names the position of a weight that is not finite, or counts
// those beyond a fixed scale that the mapping does not clip, and a config Error for a shape without rows or columns.
ConductanceTargets map_weights(const WeightMappingConfig& config, const at::Tensor& weights, double g_min_us,
                               double g_max_us);

}  // namespace zbphw
