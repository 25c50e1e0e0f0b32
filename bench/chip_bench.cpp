// The chip in time: completions of the event simulation a second, and what loosely timed transactions add to a step.
//
//   events    stages and conversion rounds that a second of wall time simulates, and single conversions (a round
//             converts one column of every ADC)
//   probe     one probe sequence of 16 pairs on a score core, 64 heads of 64 rows: systemc over noisy
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <chrono>

#include "hw/block_registry.hpp"
#include "hw/chip/chip_time.hpp"
#include "hw/device_config.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double noisy_s = 0;

void events(benchmark::State& state) {
  zbphw::ChipConfig chip;
  chip.parallel_rows = state.range(0);
  const zbphw::QueryShape shape{256, 256, 256 * 256, 8, 8};
  std::int64_t stages = 0;
  std::int64_t conversions = 0;
  for (auto _ : state) {
    const zbphw::ChipTotals totals = zbphw::simulate_chip(chip, shape, {2000, 2});
    stages += totals.events;
    conversions += totals.adc_conversions;
  }
  state.counters["events_per_s"] = benchmark::Counter(static_cast<double>(stages), benchmark::Counter::kIsRate);
  state.counters["conversions_per_s"] =
      benchmark::Counter(static_cast<double>(conversions), benchmark::Counter::kIsRate);
}

double probe(benchmark::State& state, zbphw::Fidelity fidelity) {
  at::set_num_threads(1);
  const zbphw::DeviceConfig device = zbphw::load_device("default");
  zbphw::BlockRequest request;
  request.output_width = 64;
  request.causal_period = 64;
  request.fidelity = fidelity;
  if (fidelity == zbphw::Fidelity::systemc) request.time = zbphw::systemc_chip_time();
  const auto block = zbphw::make_block("softmax", device.block("softmax"), request);
  zbphw::ProbeRequest sequence;
  sequence.point = at::sin(at::arange(64 * 64 * 64, at::kDouble)).to(at::kFloat).view({-1, 64});
  sequence.cotangent = at::cos(at::arange(64 * 64 * 64, at::kDouble)).to(at::kFloat).view({-1, 64});
  sequence.amplitude = 0.5;
  block->probe(sequence);
  const auto start = Clock::now();
  for (auto _ : state) benchmark::DoNotOptimize(block->probe(sequence).estimate.data_ptr<float>());
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(state.iterations());
}

void noisy(benchmark::State& state) { noisy_s = probe(state, zbphw::Fidelity::noisy); }
void systemc(benchmark::State& state) {
  state.counters["ratio_to_noisy"] = probe(state, zbphw::Fidelity::systemc) / noisy_s;
}

}  // namespace

BENCHMARK(events)->Arg(1)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(noisy)->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(systemc)->UseRealTime()->Unit(benchmark::kMillisecond);

BENCHMARK_MAIN();
