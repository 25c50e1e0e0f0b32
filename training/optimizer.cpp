#include "training/optimizer.hpp"

#include <ATen/ops/linalg_vector_norm.h>
#include <ATen/ops/stack.h>
#include <c10/core/GradMode.h>

#include "training/adamw.hpp"
#include "training/muon.hpp"

namespace zbphw {
namespace {

// Two optimisers, each with its share of the parameters.
class Hybrid : public Optimizer {
 public:
  Hybrid(std::unique_ptr<Optimizer> first, std::unique_ptr<Optimizer> second)
      : first_(std::move(first)), second_(std::move(second)) {}

  void step(std::int64_t update, double learning_rate_factor) override {
    first_->step(update, learning_rate_factor);
    second_->step(update, learning_rate_factor);
  }

  NamedTensors state() const override {
    NamedTensors all = first_->state();
    for (auto& entry : second_->state()) all.push_back(std::move(entry));
    return all;
  }

 private:
  std::unique_ptr<Optimizer> first_;
  std::unique_ptr<Optimizer> second_;
};

Range decay_rate() { return {0, 1, false, true}; }

}  // namespace

void describe(Fields& f, AdamWConfig& c) {
  f.number("learning_rate", c.learning_rate, above(0), "peak learning rate");
  f.number("beta1", c.beta1, decay_rate(), "decay of the mean gradient");
  f.number("beta2", c.beta2, decay_rate(), "decay of the mean squared gradient");
  f.number("epsilon", c.epsilon, above(0), "added to the root of the mean squared gradient");
  f.number("weight_decay", c.weight_decay, at_least(0), "of matrices; embeddings and gains have none");
}

void describe(Fields& f, MuonConfig& c) {
  f.number("learning_rate", c.learning_rate, above(0), "peak learning rate");
  f.number("momentum", c.momentum, decay_rate(), "decay of the mean gradient");
  f.number("weight_decay", c.weight_decay, at_least(0), "of the matrices that Muon updates");
  f.integer("iteration_steps", c.iteration_steps, between(1, 20), "Newton-Schulz steps of an update");
  f.numbers("coefficients", c.coefficients, any_number(), "a, b, c of a step X <- a X + (b A + c A^2) X, A = X X^T");
  f.require(c.coefficients.size() == 3, "coefficients", "needs three numbers");
}

void describe(Fields& f, OptimizerConfig& c) {
  f.object("adamw", c.adamw, "AdamW (Loshchilov, Hutter 2019)");
  f.optional_object("muon", c.muon, "Muon for the hidden matrices (Jordan et al. 2024); without it AdamW has them too");
}

std::unique_ptr<Optimizer> make_optimizer(const OptimizerConfig& config,
                                          const std::vector<NamedParameter>& parameters) {
  if (!config.muon) return std::make_unique<AdamW>(config.adamw, parameters);
  std::vector<NamedParameter> hidden, rest;
  for (const NamedParameter& p : parameters) {
    (p.role == ParameterRole::hidden_matrix ? hidden : rest).push_back(p);
  }
  return std::make_unique<Hybrid>(std::make_unique<Muon>(*config.muon, hidden),
                                  std::make_unique<AdamW>(config.adamw, rest));
}

void clear_gradients(const std::vector<NamedParameter>& parameters) {
  for (const NamedParameter& p : parameters) p.tensor.mutable_grad().reset();
}

double gradient_norm(const std::vector<NamedParameter>& parameters) {
  std::vector<at::Tensor> norms;
  norms.reserve(parameters.size());
  for (const NamedParameter& p : parameters) norms.push_back(at::linalg_vector_norm(p.tensor.grad()));
  return at::linalg_vector_norm(at::stack(norms)).item<double>();
}

void clip_gradients(const std::vector<NamedParameter>& parameters, double norm, double largest) {
  if (!(norm > largest)) return;
  for (const NamedParameter& p : parameters) p.tensor.mutable_grad().mul_(largest / norm);
}

}  // namespace zbphw
