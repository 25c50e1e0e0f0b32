#include "hw/crossbar/input_slices.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace zbphw {

std::int64_t count_input_slices(int bits, std::int64_t slice_bits) {
  return slice_bits == 0 ? 1 : (bits - 1 + slice_bits - 1) / slice_bits;
}

InputSlices slice_inputs(const at::Tensor& applied, const at::Tensor& wanted, const std::vector<double>& tops, int bits,
                         std::int64_t slice_bits) {
  if (slice_bits == 0) return {{wanted}, {1.0F}};
  const std::int64_t count = count_input_slices(bits, slice_bits);
  const double largest = std::ldexp(1.0, bits - 1) - 1;  // M
  const double base = std::ldexp(1.0, static_cast<int>(slice_bits));
  const std::vector<float> scales(tops.begin(), tops.end());
  const at::Tensor top = at::tensor(scales, at::kFloat).unsqueeze(1);
  const at::Tensor unit = at::where(top > 0, top / largest, at::ones_like(top));
  at::Tensor rest = at::round((applied / unit).abs());
  const at::Tensor drive = at::sign(applied) * top / (base - 1);
  InputSlices slices;
  for (std::int64_t s = 0; s < count; ++s) {
    // The last slice takes whatever is left, also of a code beyond the range.
    const at::Tensor above = s + 1 == count ? at::zeros_like(rest) : at::floor(rest / base);
    slices.values.push_back((rest - above * base) * drive);
    slices.weights.push_back(static_cast<float>(std::pow(base, static_cast<double>(s)) * (base - 1) / largest));
    rest = above;
  }
  slices.values[0] = slices.values[0] + (wanted - applied) / slices.weights[0];
  return slices;
}

}  // namespace zbphw
