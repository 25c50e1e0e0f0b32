// Central Rademacher probes of one softmax row, fused: perturbed rows exist one at a time, in cache.
//
// Included by row_kernels.cpp alone (see kernel_lanes.hpp).
#pragma once

#include "hw/kernels/kernel_lanes.hpp"

namespace zbphw::ZBPHW_ISA {
namespace {

// From row_kernels.cpp, which includes this file after them.
std::int64_t convert_row(const Quantiser& quantiser, std::int64_t length, const float* in, float* out);
std::int64_t read_pair(const ReadChain& chain, const DrawAddress& address, const PairDrift& drift, std::int64_t length,
                       float* first, float* second);
void sign_rows(const DrawAddress& address, std::int64_t length, std::int64_t probes, std::uint32_t* out);

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
        plus_again(row.scratch + 7 * padded),
        minus_again(row.scratch + 8 * padded),
        signs(reinterpret_cast<std::uint32_t*>(row.scratch + 9 * padded)) {}

  std::int64_t padded;
  float* exp_up;     // exp of the input as the DAC gives it at +rho; with exact readout exp(x - shift)
  float* exp_down;   // the same at -rho; with exact readout cotangent * exp(x - shift)
  float* cotangent;  // zero beyond the row
  float* applied;    // the probe's magnitude as the DAC produced it, of rho
  float* plus;
  float* minus;
  float* estimate;
  float* plus_again;  // the second pair of mirrored sides
  float* minus_again;
  std::uint32_t* signs;
};

// Whether both sides need no device at all: then exp(x +- rho) = exp(x) (cosh rho +- sinh rho) makes every probe two
// signed sums over the row.
// Beyond rho = 2 the difference of cosh and sinh would lose digits.
inline bool takes_exact_path(const SoftmaxProbeRow& row) {
  return row.chain.exact() && row.dac.ideal && row.amplitude <= 2.0F;
}

inline void exact_responses(SoftmaxProbeRow& row, const ProbeScratch& s) {
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
    row.responses[k] = (plus - minus) / (2.0F * row.amplitude);
  }
}

// Reads pair number `pair` of the row's queries, `first` before `second`.
inline void read_sides(SoftmaxProbeRow& row, std::int64_t pair, float* first, float* second) {
  DrawAddress address = row.noise;
  address.query += static_cast<std::uint32_t>(pair);
  const PairDrift drift{row.start_drift + static_cast<float>(2 * pair) * row.drift_step,
                        row.start_drift + static_cast<float>(2 * pair + 1) * row.drift_step};
  row.saturated_outputs += read_pair(row.chain, address, drift, row.length, first, second);
}

// cotangent . (plus - minus)
inline float side_difference(const ProbeScratch& s, const float* plus, const float* minus) {
  alignas(64) float dots[lanes] = {};
  for (std::int64_t start = 0; start < s.padded; start += lanes) {
    for (int i = 0; i < lanes; ++i) dots[i] += s.cotangent[start + i] * (plus[start + i] - minus[start + i]);
  }
  return lane_sum(dots);
}

inline void device_responses(SoftmaxProbeRow& row, const ProbeScratch& s) {
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
    if (row.mirrored) {
      std::memcpy(s.plus_again, s.plus, static_cast<std::size_t>(s.padded) * sizeof(float));
      std::memcpy(s.minus_again, s.minus, static_cast<std::size_t>(s.padded) * sizeof(float));
      read_sides(row, 2 * k, s.plus, s.minus);
      read_sides(row, 2 * k + 1, s.minus_again, s.plus_again);
      const float both = side_difference(s, s.plus, s.minus) + side_difference(s, s.plus_again, s.minus_again);
      row.responses[k] = both / (4.0F * row.amplitude);
    } else {
      read_sides(row, k, s.plus, s.minus);
      row.responses[k] = side_difference(s, s.plus, s.minus) / (2.0F * row.amplitude);
    }
  }
}

inline void prepare_exact(const SoftmaxProbeRow& row, const ProbeScratch& s) {
  exponentials(row.length, s.padded, row.shift, row.point, s.exp_up);
  for (std::int64_t j = 0; j < s.padded; ++j) s.exp_down[j] = s.exp_up[j] * s.cotangent[j];
  for (std::int64_t j = 0; j < s.padded; ++j) s.applied[j] = 1.0F;
}

inline void prepare_device(SoftmaxProbeRow& row, const ProbeScratch& s) {
  for (std::int64_t j = 0; j < row.length; ++j) s.plus[j] = row.point[j] + row.amplitude;
  for (std::int64_t j = 0; j < row.length; ++j) s.minus[j] = row.point[j] - row.amplitude;
  // Each probe drives one of the two values on its + side and the other on its - side.
  const std::int64_t drives = row.mirrored ? 2 * row.probes : row.probes;
  row.saturated_inputs += drives * convert_row(row.dac, row.length, s.plus, s.plus);
  row.saturated_inputs += drives * convert_row(row.dac, row.length, s.minus, s.minus);
  const float scale = 1.0F / (2.0F * row.amplitude);
  for (std::int64_t j = 0; j < row.length; ++j) s.applied[j] = (s.plus[j] - s.minus[j]) * scale;
  for (std::int64_t j = row.length; j < s.padded; ++j) s.applied[j] = 0.0F;
  exponentials(row.length, s.padded, row.shift, s.plus, s.exp_up);
  exponentials(row.length, s.padded, row.shift, s.minus, s.exp_down);
}

inline void accumulate_estimate(const SoftmaxProbeRow& row, const ProbeScratch& s) {
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
  for (std::int64_t j = 0; j < row.length; ++j) {
    // A response holds applied_j v_j, so the estimate is divided by it. An input that was not moved tells nothing.
    row.estimate[j] = s.applied[j] > 0.0F ? s.estimate[j] * mean / s.applied[j] : 0.0F;
  }
}

inline void softmax_probe_row(SoftmaxProbeRow& row) {
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

}  // namespace
}  // namespace zbphw::ZBPHW_ISA
