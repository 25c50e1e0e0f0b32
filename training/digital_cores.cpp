#include <ATen/Dispatch.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/_softmax.h>
#include <ATen/ops/_softmax_backward_data.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/full.h>
#include <ATen/ops/sigmoid.h>
#include <ATen/ops/silu.h>
#include <torch/csrc/autograd/custom_function.h>

#include <limits>

#include "training/cores_factory.hpp"
#include "training/digital_kernels.hpp"
#include "training/digital_ops.hpp"

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

// Keeps the inputs and the sigmoid.
struct SwiGlu : torch::autograd::Function<SwiGlu> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_gate, const at::Tensor& any_up) {
    const at::Tensor gate = any_gate.contiguous(), up = any_up.contiguous();
    const at::Tensor sigmoid = at::sigmoid(gate);
    context->save_for_backward({gate, up, sigmoid});
    return (sigmoid * gate).mul_(up);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &gate = saved[0], &up = saved[1], &sigmoid = saved[2];
    const at::Tensor grad = gradients[0].contiguous();
    const at::Tensor grad_gate = at::empty_like(gate), grad_up = at::empty_like(up);
    AT_DISPATCH_FLOATING_TYPES(gate.scalar_type(), "swiglu_backward", [&] {
      kernels::swiglu_backward<scalar_t>(gate.numel(), gate.data_ptr<scalar_t>(), up.data_ptr<scalar_t>(),
                                         sigmoid.data_ptr<scalar_t>(), grad.data_ptr<scalar_t>(),
                                         grad_gate.data_ptr<scalar_t>(), grad_up.data_ptr<scalar_t>());
    });
    return {grad_gate, grad_up};
  }
};

const Registration<CoresFactory> registered("bp", [](const TrainConfig&) { return std::make_unique<DigitalCores>(); });

}  // namespace

at::Tensor DigitalCores::softmax(const at::Tensor& scores, std::int64_t /*layer*/) {
  return CausalSoftmax::apply(scores);
}

at::Tensor DigitalCores::swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t /*layer*/) {
  return has_kernels(gate) ? SwiGlu::apply(gate, up) : at::silu(gate) * up;
}

}  // namespace zbphw
