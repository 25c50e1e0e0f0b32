// Compiled with -fno-math-errno, so that roots vectorise; see training/CMakeLists.txt.
#include "training/digital_kernels.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <vector>

extern "C" {
// The BLAS that LibTorch is linked to, by its Fortran names: column-major, everything by reference.
void sgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const float* alpha, const float* a, const int* lda, const float* b, const int* ldb, const float* beta,
            float* c, const int* ldc);
void dgemm_(const char* transpose_a, const char* transpose_b, const int* m, const int* n, const int* k,
            const double* alpha, const double* a, const int* lda, const double* b, const int* ldb, const double* beta,
            double* c, const int* ldc);
}

namespace zbphw::kernels {
namespace {

constexpr std::int64_t lanes = 16;              // of a sum: the compiler keeps them in vector registers
constexpr std::int64_t elements_a_task = 8192;  // fewer are not worth another thread

std::int64_t rows_a_task(std::int64_t width) { return std::max<std::int64_t>(1, elements_a_task / width); }

// The sum of term(i) over i < count, in a fixed order that vectorises.
template <class T, class Term>
T lane_sum(std::int64_t count, const Term& term) {
  T sums[lanes] = {};
  std::int64_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::int64_t lane = 0; lane < lanes; ++lane) sums[lane] += term(i + lane);
  }
  T total = 0;
  for (; i < count; ++i) total += term(i);
  for (std::int64_t lane = 0; lane < lanes; ++lane) total += sums[lane];
  return total;
}

void gemm(const char* ta, const char* tb, int m, int n, int k, float alpha, const float* a, int lda, const float* b,
          int ldb, float* c, int ldc) {
  const float beta = 0;
  sgemm_(ta, tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

void gemm(const char* ta, const char* tb, int m, int n, int k, double alpha, const double* a, int lda, const double* b,
          int ldb, double* c, int ldc) {
  const double beta = 0;
  dgemm_(ta, tb, &m, &n, &k, &alpha, a, &lda, b, &ldb, &beta, c, &ldc);
}

}  // namespace

template <class T>
void rms_norm(std::int64_t rows, std::int64_t width, T epsilon, const T* x, const T* gain, T* y, T* r) {
  at::parallel_for(0, rows, rows_a_task(width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* in = x + row * width;
      T* out = y + row * width;
      const T squares = lane_sum<T>(width, [in](std::int64_t i) { return in[i] * in[i]; });
      const T inverse = 1 / std::sqrt(squares / static_cast<T>(width) + epsilon);
      for (std::int64_t i = 0; i < width; ++i) out[i] = in[i] * inverse * gain[i];
      r[row] = inverse;
    }
  });
}

template <class T>
void rms_norm_backward(std::int64_t rows, std::int64_t width, const T* x, const T* gain, const T* r, const T* dy, T* dx,
                       T* dgain) {
  // A row of sums for each task, added in order at the end.
  const std::int64_t grain = rows_a_task(width);
  const std::int64_t tasks = std::min<std::int64_t>(at::get_num_threads(), (rows + grain - 1) / grain);
  const std::int64_t task_rows = (rows + tasks - 1) / tasks;
  std::vector<T> sums(static_cast<std::size_t>(tasks * width));
  at::parallel_for(0, tasks, 1, [&](std::int64_t first_task, std::int64_t last_task) {
    for (std::int64_t task = first_task; task < last_task; ++task) {
      T* sum = sums.data() + task * width;
      for (std::int64_t row = task * task_rows; row < std::min(rows, (task + 1) * task_rows); ++row) {
        const T* in = x + row * width;
        const T* grad = dy + row * width;
        T* out = dx + row * width;
        const T inverse = r[row];
        const T dot = lane_sum<T>(width, [=](std::int64_t i) { return in[i] * gain[i] * grad[i]; });
        const T along = dot / static_cast<T>(width) * inverse * inverse;
        for (std::int64_t i = 0; i < width; ++i) {
          out[i] = inverse * (gain[i] * grad[i] - in[i] * along);
          sum[i] += grad[i] * in[i] * inverse;
        }
      }
    }
  });
  std::fill_n(dgain, width, T(0));
  for (std::int64_t task = 0; task < tasks; ++task) {
    for (std::int64_t i = 0; i < width; ++i) dgain[i] += sums[static_cast<std::size_t>(task * width + i)];
  }
}

template <class T>
void rotate(std::int64_t batches, std::int64_t length, std::int64_t heads, std::int64_t width, T direction,
            const T* cosine, const T* sine, const T* x, T* y) {
  const std::int64_t half = width / 2;
  at::parallel_for(0, batches * length, rows_a_task(heads * width), [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) {
      const T* c = cosine + row % length * half;
      const T* s = sine + row % length * half;
      for (std::int64_t head = 0; head < heads; ++head) {
        const T* in = x + (row * heads + head) * width;
        T* out = y + (row * heads + head) * width;
        for (std::int64_t i = 0; i < half; ++i) {
          const T turn = direction * s[i];
          out[i] = in[i] * c[i] - in[i + half] * turn;
          out[i + half] = in[i + half] * c[i] + in[i] * turn;
        }
      }
    }
  });
}

template <class T>
void swiglu_backward(std::int64_t count, const T* gate, const T* up, const T* s, const T* dh, T* dgate, T* dup) {
  at::parallel_for(0, count, elements_a_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      dgate[i] = dh[i] * up[i] * s[i] * (1 + gate[i] * (1 - s[i]));
      dup[i] = dh[i] * gate[i] * s[i];
    }
  });
}

template <class T>
void adamw(std::int64_t count, const AdamWStep& step, const T* gradient, T* weight, T* mean, T* mean_square) {
  const T mean_share = static_cast<T>(1 - step.beta1);
  const T square_share = static_cast<T>(1 - step.beta2);
  const T kept = static_cast<T>(1 - step.decay);
  const T rate = static_cast<T>(step.rate / step.mean_bias);
  const T root_scale = static_cast<T>(1 / std::sqrt(step.square_bias));
  const T epsilon = static_cast<T>(step.epsilon);
  at::parallel_for(0, count, elements_a_task, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const T g = gradient[i];
      mean[i] += mean_share * (g - mean[i]);
      mean_square[i] += square_share * (g * g - mean_square[i]);
      weight[i] = kept * weight[i] - rate * mean[i] / (std::sqrt(mean_square[i]) * root_scale + epsilon);
    }
  });
}

template <class T>
void multiply_heads(std::int64_t batches, std::int64_t heads, std::int64_t rows, std::int64_t columns,
                    std::int64_t inner, T factor, const HeadMatrices<const T>& left, const HeadMatrices<const T>& right,
                    const HeadMatrices<T>& out) {
  at::parallel_for(0, batches * heads, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t i = begin; i < end; ++i) {
      const auto at = [&](const auto& m) { return m.data + i / heads * m.batch_stride + i % heads * m.head_stride; };
      // Row-major out = left right is column-major out^T = right^T left^T.
      gemm(right.transposed ? "T" : "N", left.transposed ? "T" : "N", static_cast<int>(columns), static_cast<int>(rows),
           static_cast<int>(inner), factor, at(right), static_cast<int>(right.row_stride), at(left),
           static_cast<int>(left.row_stride), at(out), static_cast<int>(out.row_stride));
    }
  });
}

// NOLINTBEGIN(bugprone-macro-parentheses): a template argument cannot stand in parentheses.
#define ZBPHW_KERNELS(T)                                                                                           \
  template void rms_norm<T>(std::int64_t, std::int64_t, T, const T*, const T*, T*, T*);                            \
  template void rms_norm_backward<T>(std::int64_t, std::int64_t, const T*, const T*, const T*, const T*, T*, T*);  \
  template void rotate<T>(std::int64_t, std::int64_t, std::int64_t, std::int64_t, T, const T*, const T*, const T*, \
                          T*);                                                                                     \
  template void swiglu_backward<T>(std::int64_t, const T*, const T*, const T*, const T*, T*, T*);                  \
  template void adamw<T>(std::int64_t, const AdamWStep&, const T*, T*, T*, T*);                                    \
  template void multiply_heads<T>(std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, T,         \
                                  const HeadMatrices<const T>&, const HeadMatrices<const T>&, const HeadMatrices<T>&)

// NOLINTEND(bugprone-macro-parentheses)

ZBPHW_KERNELS(float);
ZBPHW_KERNELS(double);
#undef ZBPHW_KERNELS

}  // namespace zbphw::kernels
