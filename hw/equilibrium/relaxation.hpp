// Relaxing to a fixed point: step by step as a chip does, and by Newton's method for reference.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/random.hpp"
#include "hw/equilibrium/dynamics.hpp"

namespace zbphw {

struct RelaxationStart {
  at::Tensor clamped;  // x [rows, width]
  at::Tensor start;    // z at the first step [rows, width]; undefined: x
  at::Tensor push;     // added to the force [rows, width]: -beta times the nudge; undefined: none
};

struct Relaxed {
  at::Tensor state;     // [rows, width]
  at::Tensor steps;     // [rows] int64
  at::Tensor residual;  // [rows] float64: step ||F|| / ||z|| of the last step
  at::Tensor settled;   // [rows] bool: the residual is below the tolerance
};

// Explicit relaxation; each row stops when it has settled. `rates` [width]: 1 / tau of each node, relative; undefined:
// all 1. A row that leaves the finite numbers stops unsettled.
Relaxed relax(const Dynamics& dynamics, const RelaxationConfig& config, const RelaxationStart& start,
              const at::Tensor& rates);

// As many more steps from `state` with white noise inside: z <- z + step F + sqrt(2 step) deviation xi. A node without
// neighbours (F = x - z) then has the stationary variance deviation^2 / (1 - step / 2): deviation^2 in continuous time.
// Row r draws at first_row + r.
struct DynamicsNoise {
  at::Tensor deviation;  // [rows]
  RandomAt random;       // its query is replaced by the row's number
  std::int64_t first_row = 0;
};
at::Tensor relax_noisily(const Dynamics& dynamics, const RelaxationConfig& config, const RelaxationStart& start,
                         const at::Tensor& rates, const at::Tensor& steps, const DynamicsNoise& noise);

// The fixed point in float64, by Newton's method with halved steps where a whole one makes the force larger. Throws a
// numerical Error that names the row when the force does not fall to rounding.
at::Tensor fixed_point(const Dynamics& dynamics, const RelaxationStart& start);

}  // namespace zbphw
