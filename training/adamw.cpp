#include "training/adamw.hpp"

#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <utility>

namespace zbphw {

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
  const double mean_bias = 1 - std::pow(config_.beta1, static_cast<double>(update));
  const double square_bias = 1 - std::pow(config_.beta2, static_cast<double>(update));
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const ParameterRole role = parameters_[i].role;
    const at::Tensor& weight = parameters_[i].tensor;
    const at::Tensor& gradient = weight.grad();
    mean_[i].lerp_(gradient, 1 - config_.beta1);
    mean_square_[i].mul_(config_.beta2).addcmul_(gradient, gradient, 1 - config_.beta2);
    const bool decays = role == ParameterRole::hidden_matrix || role == ParameterRole::head;
    if (decays) weight.mul_(1 - rate * config_.weight_decay);
    const at::Tensor root = mean_square_[i].sqrt().div_(std::sqrt(square_bias)).add_(config_.epsilon);
    weight.addcdiv_(mean_[i], root, -rate / mean_bias);
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
