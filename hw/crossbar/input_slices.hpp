// Bit-serial inputs: a code is driven a few bits at a time, and the readings are added with their weights.
//
// A mid_tread code is a sign and a magnitude m of up to M = 2^(bits - 1) - 1; with D = 2^slice_bits,
//   x = sign m top / M,   m = sum_s D^s d_s,   slice s drives sign d_s / (D - 1) top and counts D^s (D - 1) / M.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace zbphw {

struct InputSlices {
  std::vector<at::Tensor> values;  // [rows, inputs] each, within the DAC's range
  std::vector<float> weights;      // sum_s weights_s values_s is the input
};

// How many slices a code of `bits` takes; 1 for slice_bits 0: the whole code at once.
std::int64_t count_input_slices(int bits, std::int64_t slice_bits);

// `applied` [rows, inputs] is what the DAC gives for its range `tops` [rows], codes of `bits`. What `wanted` differs
// from it by goes into the least slice: pass `applied` itself, or the exact inputs to take the DAC's error away.
InputSlices slice_inputs(const at::Tensor& applied, const at::Tensor& wanted, const std::vector<double>& tops, int bits,
                         std::int64_t slice_bits);

}  // namespace zbphw
