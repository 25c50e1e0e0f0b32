// Which devices a device model is asked about, and where their random numbers stand.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/random.hpp"

namespace zbphw {

// Consecutive devices of one array. A draw is addressed by the device's index in its array, so an array may be
// worked on in any pieces and in any order.
struct DeviceRange {
  std::uint64_t seed = 0;
  std::uint32_t array = 0;    // the array's number on the chip
  std::uint32_t write = 0;    // how often the array was written before: each write has fresh noise
  std::uint32_t attempt = 0;  // which try of a program-and-verify loop
  std::uint32_t first = 0;    // index of the first device in its array
  std::size_t count = 0;

  // Draws that stay with a device for life: defects, differences from device to device.
  RandomAt for_life(std::uint64_t stream) const { return {seed, stream, 0, array}; }
  // Draws that one write makes and that stay until the next: drift exponents.
  RandomAt for_write(std::uint64_t stream) const { return {seed, stream, write, array}; }
  // Draws of one try to write: programming noise.
  RandomAt for_attempt(std::uint64_t stream) const { return {seed, stream, write, array, attempt}; }

  std::uint32_t element(std::size_t i) const { return first + static_cast<std::uint32_t>(i); }

  // The i-th device alone.
  DeviceRange one(std::size_t i) const {
    DeviceRange other = *this;
    other.first = element(i);
    other.count = 1;
    return other;
  }
};

}  // namespace zbphw
