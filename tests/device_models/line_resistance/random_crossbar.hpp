// Seeded random crossbars and inputs for the tests of this folder.
#pragma once

#include <cstdint>

#include "base/random.hpp"
#include "device_models/line_resistance/crossbar_circuit.hpp"

inline zbphw::RowMajorMatrix random_uniform(int rows, int columns, double low, double high, std::uint64_t seed) {
  const zbphw::RandomAt at(seed, zbphw::stream_id("line resistance tests"));
  zbphw::RowMajorMatrix matrix(rows, columns);
  for (int k = 0; k < rows * columns; ++k) {
    matrix(k / columns, k % columns) = low + (high - low) * at.uniform(static_cast<std::uint32_t>(k));
  }
  return matrix;
}

// Every entry is `value` with the given probability, otherwise 0.
inline zbphw::RowMajorMatrix random_binary(int rows, int columns, double value, double probability,
                                           std::uint64_t seed) {
  const zbphw::RowMajorMatrix uniform = random_uniform(rows, columns, 0, 1, seed);
  return (uniform.array() < probability).select(zbphw::RowMajorMatrix::Constant(rows, columns, value), 0.0);
}
