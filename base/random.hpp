// All random numbers of zbphw: pure functions of (seed, stream, step, block, query, element).
//
// Nothing is drawn "next": a value is addressed. So results do not depend on chunk size, thread count, the order of
// work, or on whether a run was resumed. Addressing: the key is (seed, stream) hashed to 64 bits; the counter is
// (element, query, block, step), 32 bits each.
#pragma once

#include <cmath>
#include <cstdint>
#include <string_view>

#include "base/philox.hpp"

namespace zbphw {

// A stream keeps draws for different purposes apart ("adc noise", "probe signs", "initial weights").
// FNV-1a of the purpose's name, so that adding a stream never renumbers another.
constexpr std::uint64_t stream_id(std::string_view purpose) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;
  for (const char c : purpose) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3ULL;
  }
  return hash;
}

// The splitmix64 finaliser (Steele, Lea, Flood 2014): a bijection that spreads every input bit.
constexpr std::uint64_t mix64(std::uint64_t z) {
  z += 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

inline PhiloxKey random_key(std::uint64_t seed, std::uint64_t stream) {
  const std::uint64_t mixed = mix64(mix64(seed) ^ stream);
  return {static_cast<std::uint32_t>(mixed), static_cast<std::uint32_t>(mixed >> 32)};
}

// The mean of a 32-bit word's bucket, strictly inside (0, 1): safe under a logarithm, symmetric about 1/2.
// In float the top 23 bits are kept, so that adding the half never rounds up to 1.
inline double unit_interval(std::uint32_t word) { return (word + 0.5) * 0x1p-32; }
inline float unit_interval_float(std::uint32_t word) { return (static_cast<float>(word >> 9) + 0.5F) * 0x1p-23F; }

// Two independent standard normal values from two words (Box and Muller 1958).
struct NormalPair {
  double first;
  double second;
};

inline NormalPair normal_pair(std::uint32_t radius_word, std::uint32_t angle_word) {
  constexpr double two_pi = 6.283185307179586476925;
  const double radius = std::sqrt(-2.0 * std::log(unit_interval(radius_word)));
  const double angle = two_pi * unit_interval(angle_word);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

// The upper 64 bits of a 128-bit product.
__extension__ typedef unsigned __int128 Wide;  // NOLINT(modernize-use-using): __extension__ needs a declaration
inline std::uint64_t high_product(std::uint64_t a, std::uint64_t b) {
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
}

// One addressed place in the random numbers: draws below take the element's index.
class RandomAt {
 public:
  RandomAt(std::uint64_t seed, std::uint64_t stream, std::uint32_t step = 0, std::uint32_t block = 0,
           std::uint32_t query = 0)
      : key_(random_key(seed, stream)), step_(step), block_(block), query_(query) {}

  RandomAt with_query(std::uint32_t query) const {
    RandomAt other = *this;
    other.query_ = query;
    return other;
  }

  PhiloxCounter words(std::uint32_t element) const { return philox4x32({element, query_, block_, step_}, key_); }

  // In (0, 1).
  double uniform(std::uint32_t element) const { return unit_interval(words(element)[0]); }

  // Mean 0, variance 1.
  double normal(std::uint32_t element) const {
    const PhiloxCounter w = words(element);
    return normal_pair(w[0], w[1]).first;
  }

  // Uniform integer in [0, bound); the bias is below bound / 2^64.
  std::uint64_t below(std::uint64_t bound, std::uint32_t element) const {
    const PhiloxCounter w = words(element);
    const std::uint64_t wide = (static_cast<std::uint64_t>(w[0]) << 32) | w[1];
    return high_product(wide, bound);
  }

  PhiloxKey key() const { return key_; }
  std::uint32_t step() const { return step_; }
  std::uint32_t block() const { return block_; }
  std::uint32_t query() const { return query_; }

 private:
  PhiloxKey key_;
  std::uint32_t step_;
  std::uint32_t block_;
  std::uint32_t query_;
};

}  // namespace zbphw
