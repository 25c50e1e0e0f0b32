// The seam between the digital model and its nonlinear parts.
//
// Everything linear, every norm and the loss is LibTorch's (training/model.cpp). What a physical chip would compute
// goes through a NonlinearCores: DigitalCores computes it exactly, the ZBP cores ask physical blocks and estimate
// gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/json.hpp"

namespace zbphw {

enum class Phase { train, validation };

// Which forward pass this is. With the layer it addresses every random number that the pass uses, so that a resumed or
// re-ordered run draws the same ones.
struct Pass {
  std::int64_t step = 0;
  Phase phase = Phase::train;
  std::int64_t first_sequence = 0;  // of this pass, within the step's batch or the validation span
};

class NonlinearCores {
 public:
  virtual ~NonlinearCores() = default;

  // Called before each forward pass.
  virtual void begin_pass(const Pass& /*pass*/) {}

  // scores [B, H, T, T], unmasked -> causal attention weights of the same shape: row i sums to one over columns j <= i
  // and is zero above. Differentiable by autograd, as the learning rule provides.
  virtual at::Tensor softmax(const at::Tensor& scores, std::int64_t layer) = 0;

  // gate, up [B, T, F] -> silu(gate) * up, same shape. Differentiable by autograd, as the learning rule provides.
  virtual at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t layer) = 0;

  // What a resumed run must find again besides weights: a device's clock, drifting state, meters. For checkpoints.
  virtual Json state() const { return Json::object(); }
  virtual void restore(const Json& /*state*/) {}

  // What the cores have measured of themselves so far, as the training log's audits and `zbphw train --json` show it:
  // "nsr", "queries", "chip_time_s", "chip_energy_j". Empty for exact cores.
  virtual Json report() const { return Json::object(); }
};

// The exact cores: the BP arm.
class DigitalCores : public NonlinearCores {
 public:
  at::Tensor softmax(const at::Tensor& scores, std::int64_t layer) override;
  at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t layer) override;
};

}  // namespace zbphw
