#include "base/lookup3.hpp"

namespace zbphw {
namespace {

class Lookup3 {
 public:
  static std::uint32_t of(const unsigned char* bytes, std::size_t size) {
    Lookup3 state(static_cast<std::uint32_t>(size));
    if (size == 0) return state.c_;
    while (size > 12) {
      state.add(bytes, 12);
      state.mix();
      bytes += 12;
      size -= 12;
    }
    state.add(bytes, size);
    return state.finish();
  }

 private:
  explicit Lookup3(std::uint32_t size) : a_(0xdeadbeefU + size), b_(a_), c_(a_) {}

  static std::uint32_t rotate(std::uint32_t x, int k) { return (x << k) | (x >> (32 - k)); }

  void add(const unsigned char* bytes, std::size_t size) {
    std::uint32_t* const words[] = {&a_, &b_, &c_};
    for (std::size_t i = 0; i < size; ++i) *words[i / 4] += static_cast<std::uint32_t>(bytes[i]) << (8 * (i % 4));
  }

  // One line of the reversible mix: x -= z, x ^= rotate(z), z += y.
  static void mix_line(std::uint32_t& x, std::uint32_t y, std::uint32_t& z, int k) {
    x -= z;
    x ^= rotate(z, k);
    z += y;
  }

  void mix() {
    mix_line(a_, b_, c_, 4);
    mix_line(b_, c_, a_, 6);
    mix_line(c_, a_, b_, 8);
    mix_line(a_, b_, c_, 16);
    mix_line(b_, c_, a_, 19);
    mix_line(c_, a_, b_, 4);
  }

  static void finish_line(std::uint32_t& x, std::uint32_t y, int k) {
    x ^= y;
    x -= rotate(y, k);
  }

  std::uint32_t finish() {
    finish_line(c_, b_, 14);
    finish_line(a_, c_, 11);
    finish_line(b_, a_, 25);
    finish_line(c_, b_, 16);
    finish_line(a_, c_, 4);
    finish_line(b_, a_, 14);
    finish_line(c_, b_, 24);
    return c_;
  }

  std::uint32_t a_;
  std::uint32_t b_;
  std::uint32_t c_;
};

}  // namespace

std::uint32_t lookup3(const unsigned char* bytes, std::size_t size) { return Lookup3::of(bytes, size); }

}  // namespace zbphw
