// Compiled once for each instruction set, with ZBPHW_ISA naming the namespace (see hw/CMakeLists.txt).
//
// Written so that the compiler vectorises: inner loops of kernel_lanes, no branches, no errno. The functions of math.h
// below are declared with their vector variants (glibc's libmvec), which math.h itself does only under -ffast-math.
// sin(t) is written cos(t - pi/2): g++ would fuse sin and cos of one argument into a scalar sincos.
#include "hw/kernels/row_kernels.hpp"

#if defined(__AVX512F__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <cstring>

extern "C" {
__attribute__((__simd__("notinbranch"))) float expf(float) noexcept;
__attribute__((__simd__("notinbranch"))) float logf(float) noexcept;
__attribute__((__simd__("notinbranch"))) float cosf(float) noexcept;
}

namespace zbphw::ZBPHW_ISA {
namespace {

constexpr int lanes = static_cast<int>(kernel_lanes);

// Lanes of one native register: Philox works on registers, everything else on arrays of kernel_lanes.
#if defined(__AVX512F__)
constexpr int word_lanes = 16;
#elif defined(__AVX2__)
constexpr int word_lanes = 8;
#else
constexpr int word_lanes = 4;
#endif

typedef std::uint32_t Words __attribute__((vector_size(4 * word_lanes)));      // NOLINT(modernize-use-using)
typedef std::uint64_t WideWords __attribute__((vector_size(4 * word_lanes)));  // NOLINT(modernize-use-using)

// Products of the even 32-bit words of x with m, as 64-bit words. The plain form would multiply 64 by 64 bits.
inline WideWords widening_product(WideWords x, std::uint32_t m) {
#if defined(__AVX512F__)
  return (WideWords)_mm512_mul_epu32((__m512i)x, _mm512_set1_epi64(m));
#elif defined(__AVX2__)
  return (WideWords)_mm256_mul_epu32((__m256i)x, _mm256_set1_epi64x(m));
#elif defined(__SSE2__)
  return (WideWords)_mm_mul_epu32((__m128i)x, _mm_set1_epi64x(m));
#else
  return (x & 0xffffffffULL) * m;
#endif
}

inline void high_and_low_product(Words x, std::uint32_t m, Words& high, Words& low) {
  constexpr std::uint64_t low_half = 0xffffffffULL;
  const auto wide = (WideWords)x;
  const WideWords even = widening_product(wide, m);
  const WideWords odd = widening_product(wide >> 32, m);
  low = (Words)((even & low_half) | (odd << 32));
  high = (Words)((even >> 32) | (odd & ~low_half));
}

// Philox4x32-10 (base/philox.hpp) on a register of counters.
inline void philox_words(Words c0, Words c1, Words c2, Words c3, PhiloxKey key, Words out[4]) {
  for (int round = 0; round < 10; ++round) {
    Words high0, low0, high1, low1;
    high_and_low_product(c0, 0xD2511F53U, high0, low0);
    high_and_low_product(c2, 0xCD9E8D57U, high1, low1);
    c0 = high1 ^ c1 ^ key[0];
    c1 = low1;
    c2 = high0 ^ c3 ^ key[1];
    c3 = low0;
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  out[0] = c0;
  out[1] = c1;
  out[2] = c2;
  out[3] = c3;
}

struct WordBlock {
  alignas(64) std::uint32_t word[4][lanes];
};

// Words of kernel_lanes counters: lane i has element first_element + i * element_stride and query first_query + i *
// query_stride.
inline void draw(const DrawAddress& address, std::uint32_t first_element, std::uint32_t element_stride,
                 std::uint32_t query_stride, WordBlock& out) {
  for (int part = 0; part < lanes; part += word_lanes) {
    Words lane{};
    for (int i = 0; i < word_lanes; ++i) lane[i] = static_cast<std::uint32_t>(part + i);
    Words words[4];
    philox_words(lane * element_stride + first_element, lane * query_stride + address.query, Words{} + address.block,
                 Words{} + address.step, address.key, words);
    for (int w = 0; w < 4; ++w) std::memcpy(&out.word[w][part], &words[w], sizeof(Words));
  }
}

// As unit_interval_float of base/random.hpp; through a signed integer, which converts in one instruction.
inline float unit(std::uint32_t word) {
  return (static_cast<float>(static_cast<std::int32_t>(word >> 9)) + 0.5F) * 0x1p-23F;
}

constexpr float two_pi = 6.28318530717958647692F;
constexpr float half_pi = 1.57079632679489661923F;

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
  const float wanted = std::floor((value - q.origin) * q.inverse_step + dither + 0.5F);
  const std::int32_t out_of_range =
      static_cast<std::int32_t>(wanted < 0.0F) | static_cast<std::int32_t>(wanted > q.last_code);
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

// kernel_lanes outputs of one query, `radius` and `angle` those of their normal values.
template <Dither kind>
inline std::int32_t read_array_lanes(const ArrayRead& read, std::int64_t start, std::int32_t valid, const float* radius,
                                     const float* angle, float turn, const std::uint32_t* dither) {
  alignas(64) float value[lanes] = {};
  alignas(64) float variance[lanes] = {};
  alignas(64) std::int32_t saturated[lanes] = {};
  std::memcpy(value, read.values + start, static_cast<std::size_t>(valid) * sizeof(float));
  if (read.variance != nullptr) {
    std::memcpy(variance, read.variance + start, static_cast<std::size_t>(valid) * sizeof(float));
  }
  for (int i = 0; i < lanes; ++i) {
    value[i] += std::sqrt(read.base_variance + variance[i]) * (radius[i] * cosf(angle[i] - turn));
  }
  if (!read.adc.ideal) {
    for (int i = 0; i < lanes; ++i) {
      const Conversion c = convert_dithered<kind>(read.adc, value[i], dither[i]);
      value[i] = c.value;
      saturated[i] = c.saturated;
    }
  }
  std::memcpy(read.values + start, value, static_cast<std::size_t>(valid) * sizeof(float));
  std::int32_t count = 0;
  for (int i = 0; i < valid; ++i) {
    read.saturated[start + i] = static_cast<std::uint8_t>(saturated[i]);
    count += saturated[i];
  }
  return count;
}

template <Dither kind>
std::int64_t read_array(const DrawAddress& address, std::int64_t length, const ArrayRead* first,
                        const ArrayRead* second) {
  std::int64_t saturated = 0;
  for (std::int64_t start = 0; start < length; start += lanes) {
    WordBlock block;
    draw(address, static_cast<std::uint32_t>(start), 1, 0, block);
    alignas(64) float radius[lanes];
    alignas(64) float angle[lanes];
    for (int i = 0; i < lanes; ++i) radius[i] = std::sqrt(-2.0F * logf(unit(block.word[0][i])));
    for (int i = 0; i < lanes; ++i) angle[i] = two_pi * unit(block.word[1][i]);
    const auto valid = static_cast<std::int32_t>(length - start < lanes ? length - start : lanes);
    if (first != nullptr) {
      saturated += read_array_lanes<kind>(*first, start, valid, radius, angle, 0.0F, block.word[2]);
    }
    if (second != nullptr) {
      saturated += read_array_lanes<kind>(*second, start, valid, radius, angle, half_pi, block.word[3]);
    }
  }
  return saturated;
}

std::int64_t read_array_pair(const DrawAddress& address, std::int64_t length, const ArrayRead* first,
                             const ArrayRead* second) {
  switch ((first != nullptr ? first : second)->adc.dither) {
    case Dither::subtractive:
      return read_array<Dither::subtractive>(address, length, first, second);
    case Dither::triangular:
      return read_array<Dither::triangular>(address, length, first, second);
    case Dither::none:
      break;
  }
  return read_array<Dither::none>(address, length, first, second);
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

// Sums of a padded row, lane by lane and then across: the same order whatever the instruction set.
inline float lane_sum(const float* sums) {
  float total = 0;
  for (int i = 0; i < lanes; ++i) total += sums[i];
  return total;
}

// row /= sum(row), over a padded row whose padding is zero.
inline void normalise(std::int64_t padded, float* row) {
  alignas(64) float sums[lanes] = {};
  for (std::int64_t start = 0; start < padded; start += lanes) {
    for (int i = 0; i < lanes; ++i) sums[i] += row[start + i];
  }
  const float scale = 1.0F / lane_sum(sums);
  for (std::int64_t j = 0; j < padded; ++j) row[j] *= scale;
}

// Loops with a call run over the whole padded row: the compiler unrolls a loop of 16 before it looks for vectors, and
// then finds scalar calls. `in` may be `out`.
inline void exponentials(std::int64_t length, std::int64_t padded, float shift, const float* in, float* out) {
  for (std::int64_t j = 0; j < length; ++j) out[j] = in[j] - shift;
  for (std::int64_t j = length; j < padded; ++j) out[j] = 0.0F;
  for (std::int64_t j = 0; j < padded; ++j) out[j] = expf(out[j]);
  for (std::int64_t j = length; j < padded; ++j) out[j] = 0.0F;
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
      out[start + i] = std::sqrt(-2.0F * logf(unit(block.word[0][i]))) * cosf(two_pi * unit(block.word[1][i]));
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

inline float with_sign(float value, std::uint32_t sign_bit) {
  std::uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  bits ^= sign_bit << 31;
  std::memcpy(&value, &bits, sizeof bits);
  return value;
}

// The 16 sign bits of the lanes that start at `start`.
inline std::uint32_t lane_bits(const std::uint32_t* signs, std::int64_t start) {
  return signs[start / 32] >> (start % 32);
}

// Scratch of one row, all padded to whole lanes.
struct ProbeScratch {
  explicit ProbeScratch(const SoftmaxProbeRow& row)
      : padded(padded_length(row.length)),
        exp_up(row.scratch),
        exp_down(row.scratch + padded),
        cotangent(row.scratch + 2 * padded),
        applied(row.scratch + 3 * padded),
        plus(row.scratch + 4 * padded),
        minus(row.scratch + 5 * padded),
        estimate(row.scratch + 6 * padded),
        signs(reinterpret_cast<std::uint32_t*>(row.scratch + 7 * padded)) {}

  std::int64_t padded;
  float* exp_up;     // exp of the input as the DAC gives it at +rho; with exact readout exp(x - shift)
  float* exp_down;   // the same at -rho; with exact readout cotangent * exp(x - shift)
  float* cotangent;  // zero beyond the row
  float* applied;    // the probe's magnitude as the DAC produced it, of rho
  float* plus;
  float* minus;
  float* estimate;
  std::uint32_t* signs;
};

// Whether both sides need no device at all: then exp(x +- rho) = exp(x) (cosh rho +- sinh rho) makes every probe two
// signed sums over the row.
inline bool takes_exact_path(const SoftmaxProbeRow& row) { return row.chain.exact() && row.dac.ideal; }

void exact_responses(SoftmaxProbeRow& row, const ProbeScratch& s) {
  alignas(64) float sums[2][lanes] = {};
  for (std::int64_t start = 0; start < s.padded; start += lanes) {
    for (int i = 0; i < lanes; ++i) {
      sums[0][i] += s.exp_up[start + i];
      sums[1][i] += s.exp_down[start + i];
    }
  }
  const float cosh_rho = std::cosh(row.amplitude);
  const float sinh_rho = std::sinh(row.amplitude);
  const float even_sum = cosh_rho * lane_sum(sums[0]);
  const float even_dot = cosh_rho * lane_sum(sums[1]);
  const std::int64_t words = sign_words(row.length);
  for (std::int64_t k = 0; k < row.probes; ++k) {
    const std::uint32_t* signs = s.signs + k * words;
    alignas(64) float odd[2][lanes] = {};
    for (std::int64_t start = 0; start < s.padded; start += lanes) {
      const std::uint32_t bits = lane_bits(signs, start);
      for (int i = 0; i < lanes; ++i) {
        odd[0][i] += with_sign(s.exp_up[start + i], bits >> i);
        odd[1][i] += with_sign(s.exp_down[start + i], bits >> i);
      }
    }
    const float odd_sum = sinh_rho * lane_sum(odd[0]);
    const float odd_dot = sinh_rho * lane_sum(odd[1]);
    const float plus = (even_dot + odd_dot) / (even_sum + odd_sum);
    const float minus = (even_dot - odd_dot) / (even_sum - odd_sum);
    row.responses[k] = row.chain.gain * (plus - minus) / (2.0F * row.amplitude);
  }
}

void device_responses(SoftmaxProbeRow& row, const ProbeScratch& s) {
  const std::int64_t words = sign_words(row.length);
  for (std::int64_t k = 0; k < row.probes; ++k) {
    const std::uint32_t* signs = s.signs + k * words;
    for (std::int64_t start = 0; start < s.padded; start += lanes) {
      const std::uint32_t bits = lane_bits(signs, start);
      for (int i = 0; i < lanes; ++i) {
        const bool negative = ((bits >> i) & 1U) != 0;
        const float up = s.exp_up[start + i];
        const float down = s.exp_down[start + i];
        s.plus[start + i] = negative ? down : up;
        s.minus[start + i] = negative ? up : down;
      }
    }
    normalise(s.padded, s.plus);
    normalise(s.padded, s.minus);
    DrawAddress address = row.noise;
    address.query += static_cast<std::uint32_t>(k);
    const PairDrift drift{row.start_drift + static_cast<float>(2 * k) * row.drift_step,
                          row.start_drift + static_cast<float>(2 * k + 1) * row.drift_step};
    row.saturated_outputs += read_pair(row.chain, address, drift, row.length, s.plus, s.minus);
    alignas(64) float dots[lanes] = {};
    for (std::int64_t start = 0; start < s.padded; start += lanes) {
      for (int i = 0; i < lanes; ++i) dots[i] += s.cotangent[start + i] * (s.plus[start + i] - s.minus[start + i]);
    }
    row.responses[k] = lane_sum(dots) / (2.0F * row.amplitude);
  }
}

void prepare_exact(const SoftmaxProbeRow& row, const ProbeScratch& s) {
  exponentials(row.length, s.padded, row.shift, row.point, s.exp_up);
  for (std::int64_t j = 0; j < s.padded; ++j) s.exp_down[j] = s.exp_up[j] * s.cotangent[j];
  for (std::int64_t j = 0; j < s.padded; ++j) s.applied[j] = 1.0F;
}

void prepare_device(SoftmaxProbeRow& row, const ProbeScratch& s) {
  for (std::int64_t j = 0; j < row.length; ++j) s.plus[j] = row.point[j] + row.amplitude;
  for (std::int64_t j = 0; j < row.length; ++j) s.minus[j] = row.point[j] - row.amplitude;
  // Each probe drives one of the two values on its + side and the other on its - side.
  row.saturated_inputs += row.probes * convert_row(row.dac, row.length, s.plus, s.plus);
  row.saturated_inputs += row.probes * convert_row(row.dac, row.length, s.minus, s.minus);
  const float scale = 1.0F / (2.0F * row.amplitude);
  for (std::int64_t j = 0; j < row.length; ++j) s.applied[j] = (s.plus[j] - s.minus[j]) * scale;
  for (std::int64_t j = row.length; j < s.padded; ++j) s.applied[j] = 0.0F;
  exponentials(row.length, s.padded, row.shift, s.plus, s.exp_up);
  exponentials(row.length, s.padded, row.shift, s.minus, s.exp_down);
}

void accumulate_estimate(const SoftmaxProbeRow& row, const ProbeScratch& s) {
  for (std::int64_t j = 0; j < s.padded; ++j) s.estimate[j] = 0.0F;
  const std::int64_t words = sign_words(row.length);
  for (std::int64_t k = 0; k < row.probes; ++k) {
    const std::uint32_t* signs = s.signs + k * words;
    const float response = row.responses[k];
    for (std::int64_t start = 0; start < s.padded; start += lanes) {
      const std::uint32_t bits = lane_bits(signs, start);
      for (int i = 0; i < lanes; ++i) s.estimate[start + i] += with_sign(response, bits >> i);
    }
  }
  const float mean = 1.0F / static_cast<float>(row.probes);
  for (std::int64_t j = 0; j < row.length; ++j) row.estimate[j] = s.estimate[j] * mean * s.applied[j];
}

void softmax_probe_row(SoftmaxProbeRow& row) {
  const ProbeScratch s(row);
  for (std::int64_t j = 0; j < row.length; ++j) s.cotangent[j] = row.cotangent[j];
  for (std::int64_t j = row.length; j < s.padded; ++j) s.cotangent[j] = 0.0F;
  sign_rows(row.signs, row.length, row.probes, s.signs);
  if (takes_exact_path(row)) {
    prepare_exact(row, s);
    exact_responses(row, s);
  } else {
    prepare_device(row, s);
    device_responses(row, s);
  }
  accumulate_estimate(row, s);
}

#define ZBPHW_TEXT_OF(name) #name
#define ZBPHW_TEXT(name) ZBPHW_TEXT_OF(name)

}  // namespace

extern const RowKernels kernels;
const RowKernels kernels = {ZBPHW_TEXT(ZBPHW_ISA), extent,     convert_row, read_pair, read_array_pair,
                            softmax_row,           swiglu_row, normal_row,  sign_rows, softmax_probe_row};

}  // namespace zbphw::ZBPHW_ISA
