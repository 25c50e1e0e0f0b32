#include "hw/equilibrium/relaxation.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace zbphw {
namespace {

at::Tensor first_state(const RelaxationStart& start) {
  return (start.start.defined() ? start.start : start.clamped).clone();
}

at::Tensor pushed_force(const Dynamics& dynamics, const RelaxationStart& start, const at::Tensor& z) {
  const at::Tensor force = dynamics.force(z, start.clamped);
  return start.push.defined() ? force + start.push : force;
}

at::Tensor move(const RelaxationConfig& config, const at::Tensor& force, const at::Tensor& rates) {
  return rates.defined() ? config.step * force * rates : config.step * force;
}

at::Tensor row_norm(const at::Tensor& rows) { return rows.to(at::kDouble).square().sum(1).sqrt(); }

}  // namespace

Relaxed relax(const Dynamics& dynamics, const RelaxationConfig& config, const RelaxationStart& start,
              const at::Tensor& rates) {
  const std::int64_t rows = start.clamped.size(0);
  Relaxed relaxed;
  relaxed.state = first_state(start);
  relaxed.steps = at::zeros({rows}, at::kLong);
  relaxed.residual = at::zeros({rows}, at::kDouble);
  relaxed.settled = at::zeros({rows}, at::kBool);
  at::Tensor going = at::ones({rows}, at::kBool);
  for (std::int64_t step = 0; step < config.most_steps && going.any().item<bool>(); ++step) {
    const at::Tensor moved = move(config, pushed_force(dynamics, start, relaxed.state), rates);
    // A state at rest at zero has settled, whatever the ratio of nothing to nothing.
    const at::Tensor moved_norm = row_norm(moved);
    const at::Tensor residual =
        at::where(moved_norm == 0, at::zeros_like(moved_norm), moved_norm / row_norm(relaxed.state));
    relaxed.state = at::where(going.unsqueeze(1), relaxed.state + moved, relaxed.state);
    relaxed.residual = at::where(going, residual, relaxed.residual);
    relaxed.steps += going;
    const at::Tensor done = going & (residual < config.tolerance);
    relaxed.settled = relaxed.settled | done;
    going = going & ~done & relaxed.state.isfinite().all(1);
  }
  return relaxed;
}

at::Tensor relax_noisily(const Dynamics& dynamics, const RelaxationConfig& config, const RelaxationStart& start,
                         const at::Tensor& rates, const at::Tensor& steps, const DynamicsNoise& noise) {
  at::Tensor z = first_state(start);
  const std::int64_t rows = z.size(0);
  const std::int64_t width = z.size(1);
  const at::Tensor scale = (noise.deviation * std::sqrt(2 * config.step)).to(at::kDouble).unsqueeze(1);
  at::Tensor normal = at::empty({rows, width}, at::kDouble);
  const std::int64_t longest = steps.max().item<std::int64_t>();
  for (std::int64_t step = 0; step < longest; ++step) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const RandomAt at = noise.random.with_query(static_cast<std::uint32_t>(noise.first_row + r));
      double* row = normal.data_ptr<double>() + r * width;
      for (std::int64_t j = 0; j < width; ++j) row[j] = at.normal(static_cast<std::uint32_t>(step * width + j));
    }
    const at::Tensor moved =
        move(config, pushed_force(dynamics, start, z), rates) + (scale * normal).to(z.scalar_type());
    z = at::where((steps > step).unsqueeze(1), z + moved, z);
  }
  return z;
}

at::Tensor fixed_point(const Dynamics& dynamics, const RelaxationStart& start) {
  constexpr int most_iterations = 100;
  constexpr double rounding = 1e-13;
  at::Tensor result = first_state(start).to(at::kDouble);
  for (std::int64_t r = 0; r < result.size(0); ++r) {
    RelaxationStart row;
    row.clamped = start.clamped.narrow(0, r, 1).to(at::kDouble);
    if (start.push.defined()) row.push = start.push.narrow(0, r, 1).to(at::kDouble);
    at::Tensor z = result.narrow(0, r, 1);
    at::Tensor force = pushed_force(dynamics, row, z);
    const double scale = std::max(1.0, z.norm().item<double>());
    double size = force.norm().item<double>();
    for (int k = 0; k < most_iterations && size > rounding * scale; ++k) {
      const at::Tensor newton = -at::linalg_solve(dynamics.jacobian(z[0]), force[0]).unsqueeze(0);
      double share = 1;
      at::Tensor next = z + newton;
      while (share > 1e-4 && pushed_force(dynamics, row, next).norm().item<double>() >= size) {
        share /= 2;
        next = z + share * newton;
      }
      z = next;
      force = pushed_force(dynamics, row, z);
      const double now = force.norm().item<double>();
      if (!(now < size)) break;  // rounding, or no way down
      size = now;
    }
    if (!(size <= 1e-9 * scale)) {
      throw numerical_error(
          "query " + std::to_string(r),
          "no fixed point was found: the force stays at " + std::to_string(size) + "; a smaller dynamics.gain has one");
    }
    result.narrow(0, r, 1).copy_(z);
  }
  return result;
}

}  // namespace zbphw
