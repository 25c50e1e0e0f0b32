#include "hw/kernels/row_kernels.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device_models/converters/converter.hpp"

using namespace zbphw;

namespace {

std::vector<const RowKernels*> all_kernels() {
  std::vector<const RowKernels*> found(8);
  found.resize(static_cast<std::size_t>(available_row_kernels(found.data(), 8)));
  return found;
}

std::vector<float> some_row(std::int64_t length, std::uint32_t which) {
  std::vector<float> row(static_cast<std::size_t>(padded_length(length)));
  const RandomAt at(3, stream_id("row"), which);
  for (std::int64_t j = 0; j < length; ++j) row[j] = static_cast<float>(at.normal(static_cast<std::uint32_t>(j)));
  return row;
}

const DrawAddress some_address{{11, 12}, 5, 6, 7};

}  // namespace

TEST_CASE("softmax rows agree with float64 at every length") {
  for (const RowKernels* kernels : all_kernels()) {
    for (std::int64_t length = 1; length < 70; ++length) {
      const std::vector<float> in = some_row(length, 1);
      std::vector<float> out(in.size(), -1);
      kernels->softmax_row(length, 1.5F, in.data(), out.data());
      double sum = 0;
      for (std::int64_t j = 0; j < length; ++j) sum += std::exp(double(in[j]));
      for (std::int64_t j = 0; j < length; ++j) CHECK(out[j] == Approx(std::exp(double(in[j])) / sum).epsilon(2e-6));
      for (std::size_t j = length; j < out.size(); ++j) CHECK(out[j] == 0);
    }
  }
}

TEST_CASE("swiglu rows agree with float64") {
  for (const RowKernels* kernels : all_kernels()) {
    for (const std::int64_t width : {1, 7, 16, 37}) {
      const std::vector<float> in = some_row(2 * width, 2);
      std::vector<float> out(static_cast<std::size_t>(padded_length(width)));
      kernels->swiglu_row(width, in.data(), out.data());
      for (std::int64_t j = 0; j < width; ++j) {
        const double a = in[j];
        CHECK(out[j] == Approx(a / (1 + std::exp(-a)) * double(in[width + j])).margin(1e-6));
      }
    }
  }
}

TEST_CASE("normal rows are the addressed normals of base/random") {
  for (const RowKernels* kernels : all_kernels()) {
    std::vector<float> row(48);
    kernels->normal_row(some_address, 40, row.data());
    for (std::uint32_t j = 0; j < 40; ++j) {
      const PhiloxCounter w = philox4x32({j, 5, 6, 7}, {11, 12});
      CHECK(row[j] == Approx(normal_pair(w[0], w[1]).first).margin(1e-5));
    }
  }
}

TEST_CASE("sign rows are the addressed bits, for any number of probes") {
  for (const RowKernels* kernels : all_kernels()) {
    const std::int64_t length = 300, probes = 19, words = sign_words(length);
    std::vector<std::uint32_t> bits(static_cast<std::size_t>(probes * words));
    kernels->sign_rows(some_address, length, probes, bits.data());
    for (std::uint32_t k = 0; k < probes; ++k) {
      for (std::uint32_t w = 0; w < words; ++w) {
        CHECK(bits[k * words + w] == philox4x32({w / 4, 5 + k, 6, 7}, {11, 12})[w % 4]);
      }
    }
  }
}

TEST_CASE("a read adds gain, ramp and noise of the stated size to both queries of a pair (five standard errors)") {
  for (const RowKernels* kernels : all_kernels()) {
    const std::int64_t length = 40000;
    std::vector<float> first(length, 1.0F), second(length, 2.0F), ramp(length, 0.5F);
    ReadChain chain;
    chain.gain = 0.9F;
    chain.sigma = 0.1F;
    chain.ramp = ramp.data();
    kernels->read_pair(chain, some_address, {1.0F, 2.0F}, length, first.data(), second.data());
    double mean1 = 0, mean2 = 0, var1 = 0, var2 = 0, cov = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      const double e1 = first[j] - (0.9 * 1 + 0.5 * 1);
      const double e2 = second[j] - (0.9 * 2 + 0.5 * 2);
      mean1 += e1 / length;
      mean2 += e2 / length;
      var1 += e1 * e1 / length;
      var2 += e2 * e2 / length;
      cov += e1 * e2 / length;
    }
    const double n = length;
    CHECK(std::abs(mean1) < 5 * 0.1 / std::sqrt(n));
    CHECK(std::abs(mean2) < 5 * 0.1 / std::sqrt(n));
    CHECK(var1 == Approx(0.01).epsilon(5 * std::sqrt(2 / n)));
    CHECK(var2 == Approx(0.01).epsilon(5 * std::sqrt(2 / n)));
    CHECK(std::abs(cov) < 5 * 0.01 / std::sqrt(n));
  }
}

TEST_CASE("dithered conversions err by the stated variance and no bias (five standard errors)") {
  ConverterConfig config;
  config.bits = 6;
  config.grid = Grid::end_point;
  for (const RowKernels* kernels : all_kernels()) {
    for (const Dither dither : {Dither::subtractive, Dither::triangular}) {
      config.dither = dither;
      ReadChain chain;
      chain.adc = resolve(config, 1.0);
      const double step = chain.adc.step;
      const std::int64_t length = 40000;
      // A constant a fraction of a step beside a code: without dither every conversion would err the same way.
      const float input = static_cast<float>(10.3 * step);
      std::vector<float> first(length, input), second(length, input);
      const std::int64_t saturated = kernels->read_pair(chain, some_address, {}, length, first.data(), second.data());
      CHECK(saturated == 0);
      double mean = 0, variance = 0;
      for (std::int64_t j = 0; j < length; ++j) {
        for (const float read : {first[j], second[j]}) {
          mean += (read - double(input)) / (2.0 * length);
          variance += std::pow(read - double(input), 2) / (2.0 * length);
        }
      }
      // Triangular dither makes the total error's variance step^2 / 4 whatever the input.
      const double expected = conversion_variance(chain.adc);
      CHECK(std::abs(mean) < 5 * std::sqrt(expected / (2.0 * length)));
      CHECK(variance == Approx(expected).epsilon(0.03));
    }
  }
}

TEST_CASE("a dithered row takes its dithers by address and counts what is beyond the range") {
  ConverterConfig config;
  config.bits = 5;
  for (const RowKernels* kernels : all_kernels()) {
    for (const Dither dither : {Dither::none, Dither::subtractive, Dither::triangular}) {
      config.dither = dither;
      const Quantiser quantiser = resolve(config, 1.0);
      const std::vector<float> in(37, 0.3F);
      std::vector<float> out(37);
      CHECK(kernels->convert_row_dithered(quantiser, some_address, 37, in.data(), out.data()) == 0);
      for (std::uint32_t j = 0; j < 37; ++j) {
        const std::uint32_t bits = philox4x32({j, 5, 6, 7}, {11, 12})[0];
        const double uniform = unit_interval(bits) - 0.5;
        const double triangular = ((bits & 0xffffU) + (bits >> 16) - 65535.0) / 65536;
        const double shift = dither == Dither::none ? 0 : dither == Dither::subtractive ? uniform : triangular;
        // 30 steps from -1 to 1
        const double code = std::round(0.3 * 15 + 15 + shift);
        const double expected = (code - 15 - (dither == Dither::subtractive ? shift : 0)) / 15;
        CHECK(out[j] == Approx(expected).margin(1e-5));
      }
      const std::vector<float> beyond(37, -1.2F);
      CHECK(kernels->convert_row_dithered(quantiser, some_address, 37, beyond.data(), out.data()) == 37);
    }
    const std::vector<float> in = some_row(20, 8);
    std::vector<float> out(20);
    CHECK(kernels->convert_row_dithered({}, some_address, 20, in.data(), out.data()) == 0);
    CHECK(std::equal(out.begin(), out.end(), in.begin()));
  }
}

TEST_CASE("saturated conversions are clipped and counted within the row only") {
  ConverterConfig config;
  config.grid = Grid::end_point;
  ReadChain chain;
  chain.adc = resolve(config, 1.0);
  for (const RowKernels* kernels : all_kernels()) {
    std::vector<float> first(16, 7.0F), second(16, -7.0F);
    CHECK(kernels->read_pair(chain, some_address, {}, 5, first.data(), second.data()) == 10);
    CHECK(first[0] == Approx(1.0F));
    CHECK(second[0] == Approx(-1.0F));
  }
}

TEST_CASE("reading one query of a pair gives the bits that reading both gives") {
  ConverterConfig config;
  config.dither = Dither::subtractive;
  ReadChain chain;
  chain.sigma = 0.05F;
  chain.adc = resolve(config, 4.0);
  for (const RowKernels* kernels : all_kernels()) {
    const std::vector<float> in = some_row(75, 4);
    std::vector<float> both1 = in, both2 = in, one1 = in, one2 = in;
    const std::int64_t both = kernels->read_pair(chain, some_address, {}, 75, both1.data(), both2.data());
    const std::int64_t one = kernels->read_pair(chain, some_address, {}, 75, one1.data(), nullptr) +
                             kernels->read_pair(chain, some_address, {}, 75, nullptr, one2.data());
    CHECK(both1 == one1);
    CHECK(both2 == one2);
    CHECK(both == one);
  }
}

TEST_CASE("array reads add each output's own noise, convert, and mark what saturates (five standard errors)") {
  const std::int64_t length = 40000;
  ConverterConfig config;
  config.bits = 12;
  for (const RowKernels* kernels : all_kernels()) {
    std::vector<float> first(length, 0.25F), second(length, 0.5F), variance(length);
    for (std::int64_t j = 0; j < length; ++j) variance[j] = j % 2 == 0 ? 0.0025F : 0.0F;
    std::vector<std::uint8_t> beyond1(length), beyond2(length);
    const ArrayRead reads[2] = {{first.data(), variance.data(), 0.0001F, beyond1.data(), resolve(config, 0.5)},
                                {second.data(), nullptr, 0.0004F, beyond2.data(), resolve(config, 4.0)}};
    const std::int64_t saturated = kernels->read_array_pair(some_address, length, &reads[0], &reads[1]);
    double even = 0, odd = 0, other = 0;
    std::int64_t marked = 0;
    for (std::int64_t j = 0; j < length; ++j) {
      (j % 2 == 0 ? even : odd) += std::pow(first[j] - 0.25, 2) / (length / 2.0);
      other += std::pow(second[j] - 0.5, 2) / length;
      marked += beyond1[j] + beyond2[j];
    }
    const double error = 5 * std::sqrt(2 / (length / 2.0));
    CHECK(even == Approx(0.0026).epsilon(error));
    CHECK(odd == Approx(0.0001).epsilon(error));
    CHECK(other == Approx(0.0004).epsilon(error));
    CHECK(saturated == marked);
  }
}

TEST_CASE("array reads take the addressed normals and dithers of base/random") {
  const std::int64_t length = 75;
  const float large = 64;  // so that the converter's steps are small beside the noise and its ends far away
  ConverterConfig config;
  config.bits = 12;
  for (const RowKernels* kernels : all_kernels()) {
    for (const Dither dither : {Dither::none, Dither::subtractive, Dither::triangular}) {
      config.dither = dither;
      const Quantiser quantiser = dither == Dither::none ? Quantiser{} : resolve(config, large);
      std::vector<float> first(length, 1.0F), second(length, -2.0F);
      std::vector<std::uint8_t> beyond(length);
      const ArrayRead one{first.data(), nullptr, 1.0F, beyond.data(), quantiser};
      const ArrayRead two{second.data(), nullptr, 4.0F, beyond.data(), quantiser};
      kernels->read_array_pair(some_address, length, &one, &two);
      for (std::uint32_t j = 0; j < length; ++j) {
        const std::uint32_t element = j / 32 * 16 + j % 16, word = j % 32 < 16 ? 0 : 2;
        const PhiloxCounter w = philox4x32({element, 5, 6, 7}, {11, 12});
        const PhiloxCounter d = philox4x32({element + (1U << 31), 5, 6, 7}, {11, 12});
        const NormalPair z = normal_pair(w[word], w[word + 1]);
        // In steps; without a converter there is none.
        const auto dithered = [&](double value, std::uint32_t bits) {
          const double uniform = unit_interval(bits) - 0.5;
          const double triangular = ((bits & 0xffffU) + (bits >> 16) - 65535.0) / 65536;
          const double shift = dither == Dither::subtractive ? uniform : triangular;
          const double code = std::round((value - quantiser.origin) / quantiser.step + shift);
          return quantiser.origin + quantiser.step * (code - (dither == Dither::subtractive ? shift : 0));
        };
        const double analog[2] = {1 + z.first, -2 + 2 * z.second};
        const double expected[2] = {dither == Dither::none ? analog[0] : dithered(analog[0], d[word]),
                                    dither == Dither::none ? analog[1] : dithered(analog[1], d[word + 1])};
        CHECK(first[j] == Approx(expected[0]).margin(2e-5));
        CHECK(second[j] == Approx(expected[1]).margin(2e-5));
      }
    }
  }
}

TEST_CASE("reading one array query of a pair gives the bits that reading both gives") {
  ConverterConfig config;
  config.dither = Dither::subtractive;
  for (const RowKernels* kernels : all_kernels()) {
    const std::vector<float> in = some_row(75, 4);
    std::vector<float> both1 = in, both2 = in, one1 = in, one2 = in;
    std::vector<std::uint8_t> mask(75);
    const auto read = [&](std::vector<float>& row) {
      return ArrayRead{row.data(), nullptr, 0.01F, mask.data(), resolve(config, 1.5)};
    };
    const ArrayRead b1 = read(both1), b2 = read(both2), o1 = read(one1), o2 = read(one2);
    const std::int64_t both = kernels->read_array_pair(some_address, 75, &b1, &b2);
    const std::int64_t one = kernels->read_array_pair(some_address, 75, &o1, nullptr) +
                             kernels->read_array_pair(some_address, 75, nullptr, &o2);
    CHECK(both1 == one1);
    CHECK(both2 == one2);
    CHECK(both == one);
    CHECK(both > 0);
  }
}
