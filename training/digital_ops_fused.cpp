// The fused forms of digital_ops.hpp: autograd functions around digital_kernels.hpp.
#include <ATen/Dispatch.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <torch/csrc/autograd/custom_function.h>

#include "training/digital_kernels.hpp"
#include "training/digital_ops.hpp"

namespace zbphw {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

struct RmsNorm : torch::autograd::Function<RmsNorm> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_x, const at::Tensor& gain, double epsilon) {
    const at::Tensor x = any_x.contiguous();
    const std::int64_t width = x.size(-1);
    const std::int64_t rows = x.numel() / width;
    const at::Tensor y = at::empty_like(x);
    const at::Tensor inverse = at::empty({rows}, x.options());
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm", [&] {
      kernels::rms_norm<scalar_t>(rows, width, static_cast<scalar_t>(epsilon), x.data_ptr<scalar_t>(),
                                  gain.data_ptr<scalar_t>(), y.data_ptr<scalar_t>(), inverse.data_ptr<scalar_t>());
    });
    context->save_for_backward({x, gain, inverse});
    return y;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &x = saved[0], &gain = saved[1], &inverse = saved[2];
    const at::Tensor grad = gradients[0].contiguous();
    const at::Tensor grad_x = at::empty_like(x), grad_gain = at::empty_like(gain);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rms_norm_backward", [&] {
      kernels::rms_norm_backward<scalar_t>(inverse.numel(), gain.numel(), x.data_ptr<scalar_t>(),
                                           gain.data_ptr<scalar_t>(), inverse.data_ptr<scalar_t>(),
                                           grad.data_ptr<scalar_t>(), grad_x.data_ptr<scalar_t>(),
                                           grad_gain.data_ptr<scalar_t>());
    });
    return {grad_x, grad_gain, at::Tensor()};
  }
};

// A rotation's transpose is the rotation by the negative angle.
struct Rotate : torch::autograd::Function<Rotate> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& x, std::int64_t heads, const at::Tensor& cosine,
                            const at::Tensor& sine) {
    context->save_for_backward({cosine, sine});
    context->saved_data["heads"] = heads;
    return turned(x, heads, 1, cosine, sine);
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const std::int64_t heads = context->saved_data["heads"].toInt();
    return {turned(gradients[0], heads, -1, saved[0], saved[1]), at::Tensor(), at::Tensor(), at::Tensor()};
  }

  static at::Tensor turned(const at::Tensor& any_x, std::int64_t heads, int direction, const at::Tensor& cosine,
                           const at::Tensor& sine) {
    const at::Tensor x = any_x.contiguous();
    const at::Tensor y = at::empty_like(x);
    AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), "rotate", [&] {
      kernels::rotate<scalar_t>(x.size(0), x.size(1), heads, x.size(2) / heads, static_cast<scalar_t>(direction),
                                cosine.data_ptr<scalar_t>(), sine.data_ptr<scalar_t>(), x.data_ptr<scalar_t>(),
                                y.data_ptr<scalar_t>());
    });
    return y;
  }
};

// The heads' matrices in a tensor [B, T, C] or [B, heads, T, T].
template <class T>
kernels::HeadMatrices<T> heads_of(const at::Tensor& x, std::int64_t heads, bool transposed = false) {
  T* data = x.data_ptr<std::remove_const_t<T>>();
  if (x.dim() == 4) return {data, x.stride(0), x.stride(1), x.stride(2), transposed};
  return {data, x.stride(0), x.size(2) / heads, x.stride(1), transposed};
}

// out = factor left right for each batch and head; [rows, inner] times [inner, columns].
void multiply(const at::Tensor& left, bool left_transposed, const at::Tensor& right, bool right_transposed,
              const at::Tensor& out, std::int64_t heads, std::int64_t columns, std::int64_t inner, double factor) {
  const std::int64_t rows = out.dim() == 4 ? out.size(2) : out.size(1);
  AT_DISPATCH_FLOATING_TYPES(out.scalar_type(), "multiply_heads", [&] {
    kernels::multiply_heads<scalar_t>(out.size(0), heads, rows, columns, inner, static_cast<scalar_t>(factor),
                                      heads_of<const scalar_t>(left, heads, left_transposed),
                                      heads_of<const scalar_t>(right, heads, right_transposed),
                                      heads_of<scalar_t>(out, heads));
  });
}

// S = f Q K^T;  dQ = f dS K;  dK = f dS^T Q.
struct HeadScores : torch::autograd::Function<HeadScores> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_query, const at::Tensor& any_key,
                            std::int64_t heads, double factor) {
    const at::Tensor query = any_query.contiguous(), key = any_key.contiguous();
    context->save_for_backward({query, key});
    context->saved_data["factor"] = factor;
    const std::int64_t length = query.size(1);
    const at::Tensor scores = at::empty({query.size(0), heads, length, length}, query.options());
    multiply(query, false, key, true, scores, heads, length, query.size(2) / heads, factor);
    return scores;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &query = saved[0], &key = saved[1];
    const double factor = context->saved_data["factor"].toDouble();
    const at::Tensor grad = gradients[0].contiguous();
    const std::int64_t heads = grad.size(1), length = grad.size(2), width = query.size(2) / heads;
    const at::Tensor grad_query = at::empty_like(query), grad_key = at::empty_like(key);
    multiply(grad, false, key, false, grad_query, heads, width, length, factor);
    multiply(grad, true, query, false, grad_key, heads, width, length, factor);
    return {grad_query, grad_key, at::Tensor(), at::Tensor()};
  }
};

// O = A V;  dA = dO V^T;  dV = A^T dO.
struct HeadMixtures : torch::autograd::Function<HeadMixtures> {
  static at::Tensor forward(AutogradContext* context, const at::Tensor& any_weights, const at::Tensor& any_value) {
    const at::Tensor weights = any_weights.contiguous(), value = any_value.contiguous();
    context->save_for_backward({weights, value});
    const std::int64_t heads = weights.size(1);
    const at::Tensor mixtures = at::empty_like(value);
    multiply(weights, false, value, false, mixtures, heads, value.size(2) / heads, weights.size(3), 1);
    return mixtures;
  }

  static variable_list backward(AutogradContext* context, variable_list gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor &weights = saved[0], &value = saved[1];
    const at::Tensor grad = gradients[0].contiguous();
    const std::int64_t heads = weights.size(1), length = weights.size(2), width = value.size(2) / heads;
    const at::Tensor grad_weights = at::empty_like(weights), grad_value = at::empty_like(value);
    multiply(grad, false, value, true, grad_weights, heads, length, width, 1);
    multiply(weights, true, grad, false, grad_value, heads, width, length, 1);
    return {grad_weights, grad_value};
  }
};

}  // namespace

at::Tensor rms_norm(const at::Tensor& x, const at::Tensor& gain, double epsilon) {
  return has_kernels(x) ? RmsNorm::apply(x, gain, epsilon) : rms_norm_by_tensors(x, gain, epsilon);
}

at::Tensor rotate(const at::Tensor& x, std::int64_t heads, const RotaryTable& table) {
  return has_kernels(x) ? Rotate::apply(x, heads, table.cosine, table.sine) : rotate_by_tensors(x, heads, table);
}

at::Tensor head_scores(const at::Tensor& query, const at::Tensor& key, std::int64_t heads, double factor) {
  return has_kernels(query) ? HeadScores::apply(query, key, heads, factor)
                            : head_scores_by_tensors(query, key, heads, factor);
}

at::Tensor head_mixtures(const at::Tensor& weights, const at::Tensor& value) {
  return has_kernels(value) ? HeadMixtures::apply(weights, value) : head_mixtures_by_tensors(weights, value);
}

}  // namespace zbphw
