#include "training/digital_ops.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <ATen/ops/outer.h>
#include <torch/csrc/autograd/custom_function.h>

#include <cmath>

namespace zbphw {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

// Reductions of half-width types are taken in float; float and double stay what they are.
at::ScalarType statistics_type(const at::Tensor& x) {
  return x.scalar_type() == at::kDouble ? at::kDouble : at::kFloat;
}

// With r = 1 / sqrt(mean(x^2) + e) and y = gain * x r:
//     dx = r (gain dy - x r^2 mean(x gain dy)),   dgain = sum over rows of dy x r
struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& gain, double epsilon) {
    const at::Tensor wide = x.to(statistics_type(x));
    const double width = static_cast<double>(x.size(-1));
    const at::Tensor inverse = (wide.norm(2, {-1}, true).square_().div_(width).add_(epsilon)).rsqrt_();  // [..., 1]
    context->save_for_backward({x, gain, inverse});
    return (wide * inverse).mul_(gain).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor& x = saved[0];
    const at::Tensor& gain = saved[1];
    const at::Tensor& inverse = saved[2];
    const at::Tensor grad = gradients[0].to(inverse.scalar_type());
    const at::Tensor normalised = x.to(inverse.scalar_type()) * inverse;
    const at::Tensor scaled = grad * gain;
    const at::Tensor along = (scaled * normalised).mean(-1, true);  // [..., 1]
    const at::Tensor grad_x = (scaled - normalised * along).mul_(inverse).to(x.scalar_type());
    const std::int64_t width = x.size(-1);
    const at::Tensor grad_gain = (grad * normalised).reshape({-1, width}).sum(0).to(gain.scalar_type());
    return {grad_x, grad_gain, at::Tensor()};
  }
};

at::Tensor halves_swapped(const at::Tensor& x) {
  const std::int64_t half = x.size(-1) / 2;
  return at::cat({x.narrow(-1, half, half), x.narrow(-1, 0, half)}, -1);
}

// A rotation's transpose is the rotation by the negative angle.
struct Rotate : torch::autograd::Function<Rotate> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& cosine,
                            const at::Tensor& sine) {
    context->save_for_backward({cosine, sine});
    const at::Tensor wide = x.to(cosine.scalar_type());
    return (wide * cosine).addcmul_(halves_swapped(wide), sine).to(x.scalar_type());
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor grad = gradients[0].to(saved[0].scalar_type());
    const at::Tensor grad_x = (grad * saved[0]).addcmul_(halves_swapped(grad), saved[1], -1);
    return {grad_x.to(gradients[0].scalar_type()), at::Tensor(), at::Tensor()};
  }
};

}  // namespace

at::Tensor linear_map(const at::Tensor& x, const at::Tensor& weight) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape.back() = weight.size(0);
  return x.reshape({-1, x.size(-1)}).mm(weight.t()).view(shape);
}

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain, double epsilon) {
  return RmsNorm::apply(x, gain, epsilon);
}

RotaryTable rotary_table(std::int64_t length, std::int64_t width, double theta, const at::TensorOptions& options) {
  const at::TensorOptions exact = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor pair = at::arange(0, width, 2, exact);
  const at::Tensor frequency = (pair * (-std::log(theta) / static_cast<double>(width))).exp();
  const at::Tensor angle = at::outer(at::arange(length, exact), frequency);  // [T, width / 2]
  const at::Tensor sine = angle.sin();
  return {at::cat({angle.cos(), angle.cos()}, 1).to(options), at::cat({-sine, sine}, 1).to(options)};
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table) {
  const std::int64_t length = x.size(-2);
  return Rotate::apply(x, table.cosine.narrow(0, 0, length), table.sine.narrow(0, 0, length));
}

at::Tensor cross_entropy_sum(const at::Tensor& logits, const at::Tensor& targets) {
  const at::Tensor flat = logits.reshape({-1, logits.size(-1)}).to(statistics_type(logits));
  return at::nll_loss(at::log_softmax(flat, 1), targets.reshape({-1}), {}, at::Reduction::Sum, ignored_target);
}

}  // namespace zbphw
