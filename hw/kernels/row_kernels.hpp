// The hot loops of simulated analog blocks, one row at a time.
//
// One portable source (row_kernels.cpp) is compiled for several instruction sets and chosen at run time. Every function
// here is elementwise or reduces in a fixed order, contracts no multiply-add, and takes its random numbers by address:
// so the fused probe path and the explicit path, which call the same functions, give the same bits on one machine.
// Rows live in buffers padded to whole multiples of kernel_lanes; entries beyond `length` are scratch.
#pragma once

#include <cstdint>

#include "base/philox.hpp"
#include "device_models/converters/quantiser.hpp"

namespace zbphw {

constexpr std::int64_t kernel_lanes = 16;

constexpr std::int64_t padded_length(std::int64_t length) {
  return (length + kernel_lanes - 1) / kernel_lanes * kernel_lanes;
}

// Counter words besides the element: philox({element, query, block, step}, key).
struct DrawAddress {
  PhiloxKey key;
  std::uint32_t query = 0;
  std::uint32_t block = 0;
  std::uint32_t step = 0;
};

// What happens to an analog output on its way to a code: gain, offset ramp, read noise, conversion.
//   y -> convert(gain * y + ramp_j * drift + sigma * z_j)
struct ReadChain {
  float gain = 1;
  float sigma = 0;              // read noise, in output units
  const float* ramp = nullptr;  // offset ramp of each output, fraction of full scale a second; null: none
  Quantiser adc;

  bool exact() const { return gain == 1 && sigma == 0 && ramp == nullptr && adc.ideal; }
};

// Two queries that are neighbours in time share one address: their normal values are a Box-Muller pair (words 0 and 1),
// their dithers words 2 and 3. `address.query` counts such pairs. Each drifts by full scale times seconds since
// calibration.
struct PairDrift {
  float first = 0;
  float second = 0;
};

// Central Rademacher probes of one softmax row.
struct SoftmaxProbeRow {
  std::int64_t length = 0;
  std::int64_t probes = 0;
  bool mirrored = false;             // + - - + for each probe instead of + -
  const float* point = nullptr;      // [length]
  const float* cotangent = nullptr;  // [length]
  float amplitude = 1;               // rho of this row
  float shift = 0;                   // subtracted under the exponential
  Quantiser dac;
  ReadChain chain;
  DrawAddress noise;      // of the first pair of queries; each further pair has one query more
  DrawAddress signs;      // of probe 0; probe k has query + k
  float start_drift = 0;  // of the first query (see PairDrift), and what is added from one query to the next
  float drift_step = 0;
  float* responses = nullptr;          // [probes] out
  float* estimate = nullptr;           // [length] out
  float* scratch = nullptr;            // [softmax_probe_scratch(length, probes)]
  std::int64_t saturated_inputs = 0;   // out
  std::int64_t saturated_outputs = 0;  // out
};

// One query's analog outputs in front of its converters: y_j -> convert(y_j + sqrt(base + variance_j) z_j).
struct ArrayRead {
  float* values = nullptr;            // [length] in and out
  const float* variance = nullptr;    // [length], null: none
  float base_variance = 0;            // noise that every output has
  std::uint8_t* saturated = nullptr;  // [length] out, 1 where the converter was driven beyond its range
  Quantiser adc;
};

// Floats of scratch that a row of this length needs.
std::int64_t softmax_probe_scratch(std::int64_t length, std::int64_t probes);

// Words of sign bits for one probe of a row: element j has bit j % 32 of word j / 32; a set bit is -1.
constexpr std::int64_t sign_words(std::int64_t length) { return (length + 127) / 128 * 4; }

struct RowExtent {
  float largest_magnitude = 0;
  float largest = 0;
  bool finite = true;  // every entry
};

struct RowKernels {
  const char* instruction_set;

  // Of a row of at least one entry.
  RowExtent (*extent)(std::int64_t length, const float* row);

  // out[j] = convert(in[j]) without dither; returns how many were out of range: more than half a step beyond the last
  // codes, for mid_rise beyond the ends of its range. `out` may be `in`.
  std::int64_t (*convert_row)(const Quantiser& quantiser, std::int64_t length, const float* in, float* out);

  // The same with the quantiser's dither: entry j takes word 0 of its address.
  std::int64_t (*convert_row_dithered)(const Quantiser& quantiser, const DrawAddress& address, std::int64_t length,
                                       const float* in, float* out);

  // Reads the pair's first (second) query in place; a null pointer leaves that query out, the other's bits unchanged.
  // Returns the number of saturated conversions.
  std::int64_t (*read_pair)(const ReadChain& chain, const DrawAddress& address, const PairDrift& drift,
                            std::int64_t length, float* first, float* second);

  // The same for outputs that each have a noise of their own; a null query is left out. Both converters dither alike.
  // Outputs come in groups of 2 kernel_lanes that share elements: lane i of group g takes words 0 and 1 of element
  // kernel_lanes g + i, lane kernel_lanes + i its words 2 and 3; dithers are those of the element's twin, 2^31 further.
  std::int64_t (*read_array_pair)(const DrawAddress& address, std::int64_t length, const ArrayRead* first,
                                  const ArrayRead* second);

  // out = softmax(in), computed as exp(in - shift) / sum; `shift` near the row's largest entry. Pads `out` with zeros.
  void (*softmax_row)(std::int64_t length, float shift, const float* in, float* out);

  // out[j] = silu(in[j]) * in[width + j]; `out` is padded.
  void (*swiglu_row)(std::int64_t width, const float* in, float* out);

  // Standard normal values, [length]; element j takes words 0 and 1 of its address, cosine branch.
  void (*normal_row)(const DrawAddress& address, std::int64_t length, float* out);

  // Sign bits of `probes` probes, probe k at address.query + k: [probes, sign_words(length)].
  void (*sign_rows)(const DrawAddress& address, std::int64_t length, std::int64_t probes, std::uint32_t* out);

  void (*softmax_probe_row)(SoftmaxProbeRow& row);
};

// The widest set that this processor runs. ZBPHW_ISA=baseline|avx2|avx512 in the environment forces a narrower one;
// a name that this processor or build lacks is a config Error.
const RowKernels& row_kernels();

// All sets that this processor runs, narrowest first: for tests and benchmarks.
std::int64_t available_row_kernels(const RowKernels** out, std::int64_t capacity);

}  // namespace zbphw
