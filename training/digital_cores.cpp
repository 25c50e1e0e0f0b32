#include <ATen/TensorOperators.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/full.h>
#include <ATen/ops/silu.h>
#include <ATen/ops/silu_backward.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "training/cores_factory.hpp"

namespace zbphw {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Keeps only the weights A for the way back: dS = A * (dA - sum_j A dA). Where A is zero, so is dS.
struct CausalSoftmax : torch::autograd::Function<CausalSoftmax> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& scores) {
    const std::int64_t length = scores.size(-1);
    const at::Tensor future =
        at::full({length, length}, -std::numeric_limits<double>::infinity(), scores.options()).triu_(1);
    const at::Tensor weights = at::_softmax(scores + future, -1, false);
    context->save_for_backward({weights});
    return weights;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const at::Tensor weights = context->get_saved_variables()[0];
    return {at::_softmax_backward_data(gradients[0], weights, -1, weights.scalar_type())};
  }
};

// Keeps the two inputs; silu is computed again on the way back, which costs less than keeping it.
struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& gate, const at::Tensor& up) {
    context->save_for_backward({gate, up});
    return at::silu(gate).mul_(up);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& gate = saved[0];
    const at::Tensor& up = saved[1];
    return {at::silu_backward(gradients[0] * up, gate), at::silu(gate).mul_(gradients[0])};
  }
};

const Registration<CoresFactory> registered("bp", [](const TrainConfig&) { return std::make_unique<DigitalCores>(); });

}  // namespace

at::Tensor DigitalCores::softmax(const at::Tensor& scores, std::int64_t /*layer*/) {
  return CausalSoftmax::apply(scores);
}

at::Tensor DigitalCores::swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t /*layer*/) {
  return SwiGlu::apply(gate, up);
}

}  // namespace zbphw
