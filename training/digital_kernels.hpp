// Loops over contiguous CPU memory behind digital_ops.hpp: one pass each where tensor operations would take many.
//
// implements: RMSNorm, rotation, SwiGLU's backward, AdamW, and products of all heads; each for float and double. Work
// is split over threads by rows, and every output is computed by one thread in a fixed order: same bits for the same
// number of threads. The readable forms are the tensor functions of digital_ops.hpp and the published equations in the
// tests.
#pragma once

#include <cstdint>

namespace zbphw::kernels {

// y = gain * x * r with r = 1 / sqrt(mean(x^2) + epsilon); x, y [rows, width], gain [width], r [rows].
template <class T>
void rms_norm(std::int64_t rows, std::int64_t width, T epsilon, const T* x, const T* gain, T* y, T* r);

// dx = r (gain dy - x r^2 mean(x gain dy));  dgain = sum over rows of dy x r.
template <class T>
void rms_norm_backward(std::int64_t rows, std::int64_t width, const T* x, const T* gain, const T* r, const T* dy, T* dx,
                       T* dgain);

// Rotates each head of x [batches, length, heads, width] in the pairs (i, i + width / 2) by the angles whose cosines
// and sines are [length, width / 2]; `direction` -1 turns back.
template <class T>
void rotate(std::int64_t batches, std::int64_t length, std::int64_t heads, std::int64_t width, T direction,
            const T* cosine, const T* sine, const T* x, T* y);

// For h = gate s up with s = sigmoid(gate):  dgate = dh up s (1 + gate (1 - s)),  dup = dh gate s.
template <class T>
void swiglu_backward(std::int64_t count, const T* gate, const T* up, const T* s, const T* dh, T* dgate, T* dup);

// One AdamW step (adamw.hpp). `decay` = rate * weight_decay; the biases are 1 - beta^update.
struct AdamWStep {
  double beta1, beta2, epsilon, rate, decay, mean_bias, square_bias;
};
template <class T>
void adamw(std::int64_t count, const AdamWStep& step, const T* gradient, T* weight, T* mean, T* mean_square);

// One matrix for each batch and head inside a larger tensor.
template <class T>
struct HeadMatrices {
  T* data;
  std::int64_t batch_stride, head_stride, row_stride;
  bool transposed = false;
};

// out[b, h] = factor * left[b, h] right[b, h], [rows, inner] times [inner, columns], by BLAS.
template <class T>
void multiply_heads(std::int64_t batches, std::int64_t heads, std::int64_t rows, std::int64_t columns,
                    std::int64_t inner, T factor, const HeadMatrices<const T>& left, const HeadMatrices<const T>& right,
                    const HeadMatrices<T>& out);

}  // namespace zbphw::kernels
