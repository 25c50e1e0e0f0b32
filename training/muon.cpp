#include "training/muon.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/addmm.h>
#include <ATen/ops/lerp.h>
#include <ATen/ops/mm.h>
#include <ATen/ops/zeros_like.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace zbphw {

at::Tensor nearly_orthogonal(const at::Tensor& matrix, const std::vector<double>& coefficients, std::int64_t steps) {
  const double a = coefficients.at(0), b = coefficients.at(1), c = coefficients.at(2);
  const bool tall = matrix.size(0) > matrix.size(1);
  at::Tensor x = tall ? matrix.t() : matrix;
  x = x / (x.norm() + 1e-7);
  for (std::int64_t i = 0; i < steps; ++i) {
    const at::Tensor gram = at::mm(x, x.t());                         // A
    const at::Tensor polynomial = at::addmm(gram, gram, gram, b, c);  // b A + c A^2
    x = at::addmm(x, polynomial, x, a, 1);
  }
  return tall ? x.t() : x;
}

Muon::Muon(const MuonConfig& config, std::vector<NamedParameter> parameters)
    : config_(config), parameters_(std::move(parameters)) {
  for (const NamedParameter& p : parameters_) momentum_.push_back(at::zeros_like(p.tensor).detach());
}

void Muon::step(std::int64_t /*update*/, double learning_rate_factor) {
  const at::NoGradGuard no_grad;
  const double rate = config_.learning_rate * learning_rate_factor;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& weight = parameters_[i].tensor;
    const at::Tensor& gradient = weight.grad();
    momentum_[i].lerp_(gradient, 1 - config_.momentum);
    const at::Tensor lookahead = at::lerp(gradient, momentum_[i], config_.momentum);  // Nesterov
    const at::Tensor direction = nearly_orthogonal(lookahead, config_.coefficients, config_.iteration_steps);
    const double aspect = static_cast<double>(weight.size(0)) / static_cast<double>(weight.size(1));
    weight.mul_(1 - rate * config_.weight_decay);
    weight.sub_(direction, rate * std::sqrt(std::max(1.0, aspect)));
  }
}

NamedTensors Muon::state() const {
  NamedTensors all;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    all.emplace_back("muon.momentum." + parameters_[i].name, momentum_[i]);
  }
  return all;
}

}  // namespace zbphw
