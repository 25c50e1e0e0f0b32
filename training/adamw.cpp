#include "training/adamw.hpp"

#include <ATen/Dispatch.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

#include "training/digital_kernels.hpp"
#include "training/digital_ops.hpp"

namespace zbphw {
namespace {

void apply(const kernels::AdamWStep& s, const at::Tensor& any_gradient, const at::Tensor& weight,
           const at::Tensor& mean, const at::Tensor& mean_square) {
  if (has_kernels(weight)) {
    const at::Tensor gradient = any_gradient.contiguous();
    AT_DISPATCH_FLOATING_TYPES(weight.scalar_type(), "adamw", [&] {
      kernels::adamw<scalar_t>(weight.numel(), s, gradient.data_ptr<scalar_t>(), weight.data_ptr<scalar_t>(),
                               mean.data_ptr<scalar_t>(), mean_square.data_ptr<scalar_t>());
    });
    return;
  }
  mean.lerp_(any_gradient, 1 - s.beta1);
  mean_square.mul_(s.beta2).addcmul_(any_gradient, any_gradient, 1 - s.beta2);
  const at::Tensor root = mean_square.sqrt().div_(std::sqrt(s.square_bias)).add_(s.epsilon);
  weight.mul_(1 - s.decay).addcdiv_(mean, root, -s.rate / s.mean_bias);
}

}  // namespace

AdamW::AdamW(const AdamWConfig& config, std::vector<NamedParameter> parameters)
    : config_(config), parameters_(std::move(parameters)) {
  for (const NamedParameter& p : parameters_) {
    mean_.push_back(at::zeros_like(p.tensor).detach());
    mean_square_.push_back(at::zeros_like(p.tensor).detach());
  }
}

void AdamW::step(std::int64_t update, double learning_rate_factor) {
  const at::NoGradGuard no_grad;
  const double rate = config_.learning_rate * learning_rate_factor;
  kernels::AdamWStep step{config_.beta1, config_.beta2, config_.epsilon, rate, 0, 1, 1};
  step.mean_bias = 1 - std::pow(config_.beta1, static_cast<double>(update));
  step.square_bias = 1 - std::pow(config_.beta2, static_cast<double>(update));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterRole role = parameters_[i].role;
    const bool decays = role == ParameterRole::hidden_matrix || role == ParameterRole::head;
    step.decay = decays ? rate * config_.weight_decay : 0;
    apply(step, parameters_[i].tensor.grad(), parameters_[i].tensor, mean_[i], mean_square_[i]);
  }
}

NamedTensors AdamW::state() const {
  NamedTensors all;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    all.emplace_back("adamw.mean." + parameters_[i].name, mean_[i]);
    all.emplace_back("adamw.mean_square." + parameters_[i].name, mean_square_[i]);
  }
  return all;
}

}  // namespace zbphw
