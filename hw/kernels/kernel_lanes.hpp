// What the row kernels are written in: registers of random words, lanes, signs.
//
// Included by the kernels' sources alone, which are compiled once for each instruction set: everything here lives in
// the namespace that ZBPHW_ISA names.
#pragma once

#if defined(__AVX512F__) || defined(__AVX2__) || defined(__SSE2__)
#include <immintrin.h>
#endif

#include <cmath>
#include <cstring>

#include "hw/kernels/row_kernels.hpp"

// math.h declares these with their vector variants (glibc's libmvec) only under -ffast-math.
extern "C" {
__attribute__((__simd__("notinbranch"))) float expf(float) noexcept;
__attribute__((__simd__("notinbranch"))) float logf(float) noexcept;
__attribute__((__simd__("notinbranch"))) float cosf(float) noexcept;
}

namespace zbphw::ZBPHW_ISA {
namespace {

inline constexpr int lanes = static_cast<int>(kernel_lanes);

// Lanes of one native register: Philox works on registers, everything else on arrays of kernel_lanes.
#if defined(__AVX512F__)
inline constexpr int word_lanes = 16;
#elif defined(__AVX2__)
inline constexpr int word_lanes = 8;
#else
inline constexpr int word_lanes = 4;
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

// Philox4x32-10 (base/philox.hpp) on registers of counters. A word lives in the low halves of 64-bit lanes, even and
// odd lanes of a register apart: a product's low word stays where it is, whatever stands above it, since the next
// product takes low halves only.
struct SplitWords {
  WideWords even;
  WideWords odd;
};

inline SplitWords split(Words words) { return {(WideWords)words, (WideWords)words >> 32}; }

inline Words joined(const SplitWords& words) {
  constexpr std::uint64_t low_half = 0xffffffffULL;
  return (Words)((words.even & low_half) | (words.odd << 32));
}

inline void philox_words(Words c0, Words c1, Words c2, Words c3, PhiloxKey key, Words out[4]) {
  SplitWords w0 = split(c0), w1 = split(c1), w2 = split(c2), w3 = split(c3);
  for (int round = 0; round < 10; ++round) {
    const SplitWords product0 = {widening_product(w0.even, 0xD2511F53U), widening_product(w0.odd, 0xD2511F53U)};
    const SplitWords product1 = {widening_product(w2.even, 0xCD9E8D57U), widening_product(w2.odd, 0xCD9E8D57U)};
    const auto key0 = static_cast<std::uint64_t>(key[0]);
    const auto key1 = static_cast<std::uint64_t>(key[1]);
    w0 = {(product1.even >> 32) ^ w1.even ^ key0, (product1.odd >> 32) ^ w1.odd ^ key0};
    w1 = product1;
    w2 = {(product0.even >> 32) ^ w3.even ^ key1, (product0.odd >> 32) ^ w3.odd ^ key1};
    w3 = product0;
    key[0] += 0x9E3779B9U;
    key[1] += 0xBB67AE85U;
  }
  out[0] = joined(w0);
  out[1] = joined(w1);
  out[2] = joined(w2);
  out[3] = joined(w3);
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

// Natural logarithm of a normal number in (0, 1), to two units in the last place: u = 2^e m with m in [1/sqrt(2),
// sqrt(2)), and ln m = 2 artanh((m - 1) / (m + 1)) by its power series.
inline float logarithm(float u) {
  constexpr std::int32_t inverse_root_two_bits = 0x3f3504f3;
  std::int32_t bits;
  std::memcpy(&bits, &u, sizeof bits);
  const std::int32_t exponent = (bits - inverse_root_two_bits) >> 23;
  const std::int32_t mantissa_bits = bits - exponent * (1 << 23);
  float mantissa;
  std::memcpy(&mantissa, &mantissa_bits, sizeof mantissa);
  const float z = (mantissa - 1.0F) / (mantissa + 1.0F);
  const float square = z * z;
  const float series = 1.0F + square * (1.0F / 3 + square * (1.0F / 5 + square * (1.0F / 7 + square * (1.0F / 9))));
  return static_cast<float>(exponent) * 0.69314718055994530942F + 2.0F * z * series;
}

struct LanePair {
  float first;
  float second;
};

// Cosine and sine of a fraction of a full turn in (0, 1): the nearest quarter turn is taken away exactly, and the rest,
// at most an eighth of a turn, goes through the power series.
inline LanePair turn(float fraction) {
  // NOLINTNEXTLINE(bugprone-incorrect-roundings): the fraction is positive, and a call would not be vectorised
  const auto quarter = static_cast<std::int32_t>(4.0F * fraction + 0.5F);
  const auto quarters = static_cast<float>(quarter);
  const float t = (fraction - 0.25F * quarters) * 6.28318530717958647692F;
  const float square = t * t;
  const float cosine =
      1.0F + square * (-1.0F / 2 + square * (1.0F / 24 + square * (-1.0F / 720 + square * (1.0F / 40320))));
  const float sine =
      t + t * square * (-1.0F / 6 + square * (1.0F / 120 + square * (-1.0F / 5040 + square * (1.0F / 362880))));
  const bool odd = (quarter & 1) != 0;
  const float x = odd ? sine : cosine;
  const float y = odd ? cosine : sine;
  return {((quarter + 1) & 2) != 0 ? -x : x, (quarter & 2) != 0 ? -y : y};
}

// As normal_pair of base/random.hpp, in single precision. Written out rather than called, so that a loop stays in
// registers: a call saves and restores all of them.
inline LanePair normals(std::uint32_t radius_word, std::uint32_t angle_word) {
  const float radius = std::sqrt(-2.0F * logarithm(unit(radius_word)));
  const LanePair direction = turn(unit(angle_word));
  return {radius * direction.first, radius * direction.second};
}

inline constexpr float two_pi = 6.28318530717958647692F;
inline constexpr float half_pi = 1.57079632679489661923F;

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

}  // namespace
}  // namespace zbphw::ZBPHW_ISA
