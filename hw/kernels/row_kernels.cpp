// Compiled once for each instruction set, with ZBPHW_ISA naming the namespace (see hw/CMakeLists.txt).
//
// Written so that the compiler vectorises: inner loops of kernel_lanes, no branches, no errno.
// sin(t) is written cos(t - pi/2): g++ would fuse sin and cos of one argument into a scalar sincos.
#include "hw/kernels/row_kernels.hpp"

#include "hw/kernels/kernel_lanes.hpp"
#include "hw/kernels/softmax_probe_kernel.hpp"

namespace zbphw::ZBPHW_ISA {
namespace {

inline float triangular(std::uint32_t word) {
  const auto sum = static_cast<std::int32_t>((word & 0xffffU) + (word >> 16));
  return (static_cast<float>(sum) - 65535.0F) * 0x1p-16F;
}

// Dither in steps, from one word.
template <Dither kind>
inline float dither_value(std::uint32_t word) {
  if constexpr (kind == Dither::subtractive) return unit(word) - 0.5F;
  if constexpr (kind == Dither::triangular) return triangular(word);
  return 0.0F;
}

struct Conversion {
  float value;
  std::int32_t saturated;
};

template <Dither kind>
inline Conversion convert_dithered(const Quantiser& q, float value, std::uint32_t word) {
  const float dither = dither_value<kind>(word);
  const float place = (value - q.origin) * q.inverse_step + dither;
  const float wanted = std::floor(place + 0.5F);
  // The ends belong to the range: mid_rise has them half a step beyond its last codes, where rounding goes outwards.
  const float end = q.last_code * 0x1p-20F + 0.5F;
  const std::int32_t out_of_range =
      static_cast<std::int32_t>(place < -end) | static_cast<std::int32_t>(place - q.last_code > end);
  float code = wanted < 0.0F ? 0.0F : wanted;
  code = code > q.last_code ? q.last_code : code;
  const float subtracted = kind == Dither::subtractive ? code - dither : code;
  return {q.origin + subtracted * q.step, out_of_range};
}

template <Dither kind, bool quantise, bool first_wanted, bool second_wanted>
std::int64_t read_lanes(const ReadChain& chain, const DrawAddress& address, const PairDrift& drift, std::int64_t length,
                        float* __restrict first, float* __restrict second) {
  std::int64_t saturated = 0;
  const float gain = chain.gain;
  const float sigma = chain.sigma;
  for (std::int64_t start = 0; start < length; start += lanes) {
    WordBlock block;
    draw(address, static_cast<std::uint32_t>(start), 1, 0, block);
    alignas(64) float ramp[lanes] = {};
    const auto valid = static_cast<std::int32_t>(length - start < lanes ? length - start : lanes);
    if (chain.ramp != nullptr) std::memcpy(ramp, chain.ramp + start, static_cast<std::size_t>(valid) * sizeof(float));
    std::int32_t out_of_range = 0;
    for (int i = 0; i < lanes; ++i) {
      const float radius = sigma * std::sqrt(-2.0F * logf(unit(block.word[0][i])));
      const float angle = two_pi * unit(block.word[1][i]);
      const auto inside = static_cast<std::int32_t>(i < valid);
      if constexpr (first_wanted) {
        const float analog = gain * first[start + i] + ramp[i] * drift.first + radius * cosf(angle);
        if constexpr (quantise) {
          const Conversion c = convert_dithered<kind>(chain.adc, analog, block.word[2][i]);
          first[start + i] = c.value;
          out_of_range += c.saturated & inside;
        } else {
          first[start + i] = analog;
        }
      }
      if constexpr (second_wanted) {
        const float analog = gain * second[start + i] + ramp[i] * drift.second + radius * cosf(angle - half_pi);
        if constexpr (quantise) {
          const Conversion c = convert_dithered<kind>(chain.adc, analog, block.word[3][i]);
          second[start + i] = c.value;
          out_of_range += c.saturated & inside;
        } else {
          second[start + i] = analog;
        }
      }
    }
    saturated += out_of_range;
  }
  return saturated;
}

template <Dither kind, bool quantise>
std::int64_t read_wanted(const ReadChain& chain, const DrawAddress& address, const PairDrift& drift,
                         std::int64_t length, float* first, float* second) {
  if (first == nullptr) return read_lanes<kind, quantise, false, true>(chain, address, drift, length, first, second);
  if (second == nullptr) return read_lanes<kind, quantise, true, false>(chain, address, drift, length, first, second);
  return read_lanes<kind, quantise, true, true>(chain, address, drift, length, first, second);
}

std::int64_t read_pair(const ReadChain& chain, const DrawAddress& address, const PairDrift& drift, std::int64_t length,
                       float* first, float* second) {
  if (chain.adc.ideal) return read_wanted<Dither::none, false>(chain, address, drift, length, first, second);
  switch (chain.adc.dither) {
    case Dither::subtractive:
      return read_wanted<Dither::subtractive, true>(chain, address, drift, length, first, second);
    case Dither::triangular:
      return read_wanted<Dither::triangular, true>(chain, address, drift, length, first, second);
    case Dither::none:
      break;
  }
  return read_wanted<Dither::none, true>(chain, address, drift, length, first, second);
}

// Copies kernel_lanes entries of a row out, as far as it goes; null for zeros.
inline void load_lanes(const float* row, std::int32_t valid, float* out) {
  constexpr std::size_t all = lanes * sizeof(float);
  if (row != nullptr && valid == lanes) {
    std::memcpy(out, row, all);  // of a size that is known: one register
    return;
  }
  std::memset(out, 0, all);
  if (row != nullptr) std::memcpy(out, row, static_cast<std::size_t>(valid) * sizeof(float));
}

// Writes a query's lanes back; returns how many of its conversions saturated.
inline std::int32_t store_lanes(const ArrayRead& read, std::int64_t start, std::int32_t valid, const float* value,
                                const std::int32_t* saturated) {
  alignas(16) std::uint8_t beyond[lanes];
  std::int32_t count = 0;
#pragma GCC unroll 1  // unrolled, it would not be vectorised
  for (int i = 0; i < lanes; ++i) {
    const std::int32_t here = i < valid ? saturated[i] : 0;
    beyond[i] = static_cast<std::uint8_t>(here);
    count += here;
  }
  if (valid == lanes) {
    std::memcpy(read.values + start, value, lanes * sizeof(float));
    std::memcpy(read.saturated + start, beyond, sizeof beyond);
    return count;
  }
  std::memcpy(read.values + start, value, static_cast<std::size_t>(valid) * sizeof(float));
  std::memcpy(read.saturated + start, beyond, static_cast<std::size_t>(valid));
  return count;
}

// One lane of one query.
template <Dither kind, bool quantise>
inline void read_array_lane(const ArrayRead& read, float normal, std::uint32_t word, float& value, float variance,
                            std::int32_t& saturated) {
  const float analog = value + std::sqrt(read.base_variance + variance) * normal;
  if constexpr (quantise) {
    const Conversion c = convert_dithered<kind>(read.adc, analog, word);
    value = c.value;
    saturated = c.saturated;
  } else {
    value = analog;
    saturated = 0;
  }
}

// kernel_lanes outputs from `start` on; their normals are from words `word` and `word + 1` of `noise`, their dithers
// from the same words of `dither`. All of a lane's work stands in one loop: shorter ones are unrolled before they can
// be vectorised.
template <Dither kind, bool quantise, bool first_wanted, bool second_wanted>
inline std::int32_t read_array_lanes(const WordBlock& noise, const WordBlock& dither, int word, std::int64_t start,
                                     std::int64_t length, const ArrayRead& first, const ArrayRead& second) {
  const auto valid = static_cast<std::int32_t>(length - start < lanes ? length - start : lanes);
  alignas(64) float value[2][lanes], variance[2][lanes];
  alignas(64) std::int32_t beyond[2][lanes];
  constexpr bool wanted[2] = {first_wanted, second_wanted};
  for (const int k : {0, 1}) {
    if (!wanted[k]) continue;
    const ArrayRead& read = k == 0 ? first : second;
    load_lanes(read.values + start, valid, value[k]);
    load_lanes(read.variance == nullptr ? nullptr : read.variance + start, valid, variance[k]);
  }
  for (int i = 0; i < lanes; ++i) {
    const LanePair normal = normals(noise.word[word][i], noise.word[word + 1][i]);
    // The analyser does not see that load_lanes wrote every value.
    // NOLINTBEGIN(clang-analyzer-core.CallAndMessage)
    if constexpr (first_wanted) {
      read_array_lane<kind, quantise>(first, normal.first, dither.word[word][i], value[0][i], variance[0][i],
                                      beyond[0][i]);
    }
    if constexpr (second_wanted) {
      read_array_lane<kind, quantise>(second, normal.second, dither.word[word + 1][i], value[1][i], variance[1][i],
                                      beyond[1][i]);
    }
    // NOLINTEND(clang-analyzer-core.CallAndMessage)
  }
  std::int32_t saturated = 0;
  if constexpr (first_wanted) saturated += store_lanes(first, start, valid, value[0], beyond[0]);
  if constexpr (second_wanted) saturated += store_lanes(second, start, valid, value[1], beyond[1]);
  return saturated;
}

// One draw serves two blocks of lanes of both queries; without dither there is no other.
template <Dither kind, bool quantise, bool first_wanted, bool second_wanted>
std::int64_t read_array(const DrawAddress& address, std::int64_t length, const ArrayRead& first,
                        const ArrayRead& second) {
  constexpr std::uint32_t dither_elements = 1U << 31;
  std::int64_t saturated = 0;
  WordBlock noise, dither;
  if constexpr (kind == Dither::none) std::memset(&dither, 0, sizeof dither);
  for (std::int64_t start = 0; start < length; start += std::int64_t{2} * lanes) {
    const auto element = static_cast<std::uint32_t>(start / 2);
    draw(address, element, 1, 0, noise);
    if constexpr (kind != Dither::none) draw(address, dither_elements + element, 1, 0, dither);
    int word = 0;
    for (std::int64_t at = start; at < start + 2 * kernel_lanes && at < length; at += kernel_lanes, word += 2) {
      saturated +=
          read_array_lanes<kind, quantise, first_wanted, second_wanted>(noise, dither, word, at, length, first, second);
    }
  }
  return saturated;
}

template <Dither kind, bool quantise>
std::int64_t read_array_wanted(const DrawAddress& address, std::int64_t length, const ArrayRead* first,
                               const ArrayRead* second) {
  if (first == nullptr) return read_array<kind, quantise, false, true>(address, length, *second, *second);
  if (second == nullptr) return read_array<kind, quantise, true, false>(address, length, *first, *first);
  return read_array<kind, quantise, true, true>(address, length, *first, *second);
}

std::int64_t read_array_pair(const DrawAddress& address, std::int64_t length, const ArrayRead* first,
                             const ArrayRead* second) {
  const ArrayRead& one = first != nullptr ? *first : *second;
  // A row of zeros has an ideal converter whatever its neighbour has.
  if (first != nullptr && second != nullptr && first->adc.ideal != second->adc.ideal) {
    return read_array_pair(address, length, first, nullptr) + read_array_pair(address, length, nullptr, second);
  }
  if (one.adc.ideal) return read_array_wanted<Dither::none, false>(address, length, first, second);
  switch (one.adc.dither) {
    case Dither::subtractive:
      return read_array_wanted<Dither::subtractive, true>(address, length, first, second);
    case Dither::triangular:
      return read_array_wanted<Dither::triangular, true>(address, length, first, second);
    case Dither::none:
      break;
  }
  return read_array_wanted<Dither::none, true>(address, length, first, second);
}

std::int64_t convert_row(const Quantiser& quantiser, std::int64_t length, const float* in, float* out) {
  if (quantiser.ideal) {
    if (in != out) std::memcpy(out, in, static_cast<std::size_t>(length) * sizeof(float));
    return 0;
  }
  std::int64_t saturated = 0;
  for (std::int64_t j = 0; j < length; ++j) {
    const Conversion c = convert_dithered<Dither::none>(quantiser, in[j], 0);
    out[j] = c.value;
    saturated += c.saturated;
  }
  return saturated;
}

template <Dither kind>
std::int64_t convert_with_dither(const Quantiser& quantiser, const DrawAddress& address, std::int64_t length,
                                 const float* in, float* out) {
  std::int64_t saturated = 0;
  for (std::int64_t start = 0; start < length; start += lanes) {
    WordBlock block;
    draw(address, static_cast<std::uint32_t>(start), 1, 0, block);
    const std::int64_t last = start + lanes < length ? start + lanes : length;
    for (std::int64_t j = start; j < last; ++j) {
      const Conversion c = convert_dithered<kind>(quantiser, in[j], block.word[0][j - start]);
      out[j] = c.value;
      saturated += c.saturated;
    }
  }
  return saturated;
}

std::int64_t convert_row_dithered(const Quantiser& quantiser, const DrawAddress& address, std::int64_t length,
                                  const float* in, float* out) {
  if (!quantiser.ideal && quantiser.dither == Dither::subtractive)
    return convert_with_dither<Dither::subtractive>(quantiser, address, length, in, out);
  if (!quantiser.ideal && quantiser.dither == Dither::triangular)
    return convert_with_dither<Dither::triangular>(quantiser, address, length, in, out);
  return convert_row(quantiser, length, in, out);
}

void softmax_row(std::int64_t length, float shift, const float* in, float* out) {
  const std::int64_t padded = padded_length(length);
  exponentials(length, padded, shift, in, out);
  normalise(padded, out);
}

void swiglu_row(std::int64_t width, const float* __restrict in, float* __restrict out) {
  const std::int64_t padded = padded_length(width);
  for (std::int64_t j = 0; j < width; ++j) out[j] = -in[j];
  for (std::int64_t j = width; j < padded; ++j) out[j] = 0.0F;
  for (std::int64_t j = 0; j < padded; ++j) out[j] = expf(out[j]);
  for (std::int64_t j = 0; j < width; ++j) out[j] = in[j] / (1.0F + out[j]) * in[width + j];
}

// Reductions in kernel_lanes lanes: one running maximum would be a chain of compares.
RowExtent extent(std::int64_t length, const float* row) {
  alignas(64) float magnitude[lanes];
  alignas(64) float largest[lanes];
  alignas(64) float sum[lanes] = {};
  for (int i = 0; i < lanes; ++i) magnitude[i] = 0.0F;
  for (int i = 0; i < lanes; ++i) largest[i] = row[0];
  const std::int64_t whole = length / lanes * lanes;
  for (std::int64_t start = 0; start < whole; start += lanes) {
#pragma GCC unroll 1  // unrolled, it would not be vectorised
    for (int i = 0; i < lanes; ++i) {
      const float value = row[start + i];
      const float size = std::fabs(value);
      magnitude[i] = size > magnitude[i] ? size : magnitude[i];
      largest[i] = value > largest[i] ? value : largest[i];
      sum[i] += value * 0.0F;  // 0 for a finite value, else NaN: a comparison would let a NaN pass
    }
  }
  for (std::int64_t j = whole; j < length; ++j) {
    const float size = std::fabs(row[j]);
    magnitude[0] = size > magnitude[0] ? size : magnitude[0];
    largest[0] = row[j] > largest[0] ? row[j] : largest[0];
    sum[0] += row[j] * 0.0F;
  }
  RowExtent result{0.0F, largest[0], lane_sum(sum) == 0.0F};
  for (int i = 0; i < lanes; ++i) {
    result.largest_magnitude = magnitude[i] > result.largest_magnitude ? magnitude[i] : result.largest_magnitude;
    result.largest = largest[i] > result.largest ? largest[i] : result.largest;
  }
  return result;
}

void normal_row(const DrawAddress& address, std::int64_t length, float* out) {
  for (std::int64_t start = 0; start < length; start += lanes) {
    WordBlock block;
    draw(address, static_cast<std::uint32_t>(start), 1, 0, block);
    for (int i = 0; i < lanes; ++i) {
      out[start + i] = normals(block.word[0][i], block.word[1][i]).first;
    }
  }
}

// One Philox draw gives the signs of 128 elements; kernel_lanes probes are drawn side by side.
void sign_rows(const DrawAddress& address, std::int64_t length, std::int64_t probes, std::uint32_t* out) {
  const std::int64_t words = sign_words(length);
  for (std::int64_t group = 0; group < words / 4; ++group) {
    for (std::int64_t first = 0; first < probes; first += lanes) {
      WordBlock block;
      DrawAddress here = address;
      here.query += static_cast<std::uint32_t>(first);
      draw(here, static_cast<std::uint32_t>(group), 0, 1, block);
      const std::int64_t last = first + lanes < probes ? first + lanes : probes;
      for (std::int64_t k = first; k < last; ++k) {
        for (int w = 0; w < 4; ++w) out[k * words + group * 4 + w] = block.word[w][k - first];
      }
    }
  }
}

#define ZBPHW_TEXT_OF(name) #name
#define ZBPHW_TEXT(name) ZBPHW_TEXT_OF(name)

}  // namespace

extern const RowKernels kernels;
const RowKernels kernels = {ZBPHW_TEXT(ZBPHW_ISA), extent,      convert_row, convert_row_dithered, read_pair,
                            read_array_pair,       softmax_row, swiglu_row,  normal_row,           sign_rows,
                            softmax_probe_row};

}  // namespace zbphw::ZBPHW_ISA
