// A generator that is a small table, or a rounding that leans to one side, shows up in the mean of very many reads.
#include <ATen/ATen.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"
#include "hw/crossbar/crossbar_linear.hpp"

using namespace zbphw;

TEST_CASE("the mean of ten million reads of one product is biased by less than three standard errors") {
  constexpr std::int64_t inputs = 8, outputs = 16, batch = 20000, batches = 500;
  static_assert(batch * batches == 10000000);
  const Json json = {{"cell", {{"preset", "pcm_joshi_2020"}}},
                     {"dac", {{"bits", 8}}},
                     {"adc", {{"bits", 8}, {"range", "calibrated"}, {"headroom", 2}, {"dither", "subtractive"}}},
                     {"output_noise_fraction", 0.002}};
  CrossbarRequest request;
  request.inputs = inputs;
  request.outputs = outputs;
  CrossbarLinear block(read_config<CrossbarConfig>(json, "test: $"), request);
  const RandomAt normal(5, stream_id("bias test"));
  at::Tensor weights = at::empty({outputs, inputs}, at::kFloat), x = at::empty({1, inputs}, at::kFloat);
  for (std::uint32_t k = 0; k < outputs * inputs; ++k)
    weights.data_ptr<float>()[k] = static_cast<float>(normal.normal(k));
  for (std::uint32_t k = 0; k < inputs; ++k)
    x.data_ptr<float>()[k] = static_cast<float>(normal.with_query(1).normal(k));
  block.program(weights);

  CrossbarEffects quiet;
  quiet.read_noise = quiet.adc = false;
  block.set_effects(quiet);
  QueryBatch one;
  one.inputs = x;
  const at::Tensor expected = block.query(one).values[0];

  block.set_effects({});
  QueryBatch many;
  many.inputs = x.expand({batch, inputs}).contiguous();
  many.slot.start_s = block.first_time_s();
  at::Tensor sum = at::zeros({outputs}, at::kDouble), squares = at::zeros({outputs}, at::kDouble);
  for (std::int64_t b = 0; b < batches; ++b) {
    many.slot.first_row = static_cast<std::uint32_t>(b * batch);
    const at::Tensor error = block.query(many).values - expected;
    sum += error.sum(0, false, at::kDouble);
    squares += error.square().sum(0, false, at::kDouble);
  }
  REQUIRE(block.meter().saturated_outputs == 0);
  const double n = batch * batches;
  const at::Tensor bias = sum / n;
  const at::Tensor standard_error = ((squares / n - bias.square()) / n).sqrt();
  const at::Tensor z = bias / standard_error;
  // The first output is the product in question; all sixteen together are a chi-square of 16 degrees of freedom, whose
  // upper point of one in a thousand is 39.3.
  CHECK(std::abs(z[0].item<double>()) < 3);
  CHECK(z.square().sum().item<double>() < 39.3);
}
