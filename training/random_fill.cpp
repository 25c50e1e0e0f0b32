#include "training/random_fill.hpp"

#include <ATen/Dispatch.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

namespace zbphw {
namespace {

// The first draw of four neighbours comes from one Philox block.
std::array<double, 4> four_normals(const RandomAt& at, std::int64_t group) {
  const PhiloxCounter words = at.words(static_cast<std::uint32_t>(group));
  const NormalPair first = normal_pair(words[0], words[1]);
  const NormalPair second = normal_pair(words[2], words[3]);
  return {first.first, first.second, second.first, second.second};
}

double redraw_within(const RandomAt& at, std::int64_t element, double z, double bound) {
  for (std::uint32_t attempt = 1; std::abs(z) > bound; ++attempt) {
    z = at.with_query(attempt).normal(static_cast<std::uint32_t>(element));
  }
  return z;
}

template <class Scalar>
void fill(Scalar* values, std::int64_t count, const RandomAt& at, double std, double bound) {
  at::parallel_for(0, (count + 3) / 4, 4096, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t group = begin; group < end; ++group) {
      const std::array<double, 4> z = four_normals(at, group);
      const std::int64_t first = 4 * group;
      for (std::int64_t i = first; i < std::min(first + 4, count); ++i) {
        values[i] = static_cast<Scalar>(std * redraw_within(at, i, z[static_cast<std::size_t>(i - first)], bound));
      }
    }
  });
}

}  // namespace

void fill_truncated_normal(const at::Tensor& tensor, const RandomAt& at, double std, double bound) {
  TORCH_CHECK(tensor.is_contiguous() && tensor.device().is_cpu(), "random fill needs a contiguous CPU tensor");
  AT_DISPATCH_FLOATING_TYPES(tensor.scalar_type(), "fill_truncated_normal",
                             [&] { fill(tensor.data_ptr<scalar_t>(), tensor.numel(), at, std, bound); });
}

}  // namespace zbphw
