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
