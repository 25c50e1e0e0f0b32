// What a noisy crossbar costs: products of a batch of 64 with 8-bit converters and read noise that depends on the
// state, beside the plain matrix product of the same shape. One thread, CPU time. Both are timed in turns of a few
// calls, so that whatever else the machine does meets both; `of_plain` is their ratio over all turns and `least` that
// of the worst tenth. The limit of two products and no overhead is .5.
//
// `memory` shows how much the process grows in one query of a large batch, beside what rows x inputs x outputs numbers
// would take.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>
#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <vector>

#include "base/random.hpp"
#include "hw/crossbar/crossbar_linear.hpp"

namespace {

constexpr std::int64_t batch = 64;

at::Tensor normal_matrix(std::int64_t rows, std::int64_t columns, std::uint32_t which) {
  at::Tensor matrix = at::empty({rows, columns}, at::kFloat);
  const zbphw::RandomAt random(1, zbphw::stream_id("crossbar benchmark"), which);
  for (std::int64_t k = 0; k < rows * columns; ++k) {
    matrix.data_ptr<float>()[k] = static_cast<float>(random.normal(static_cast<std::uint32_t>(k)));
  }
  return matrix;
}

double thread_cpu_s() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

zbphw::CrossbarLinear programmed_crossbar(std::int64_t width) {
  const zbphw::Json json = {{"tile_rows", 1024},
                            {"tile_columns", 1024},
                            {"cell", {{"preset", "pcm_joshi_2020"}}},
                            {"dac", {{"bits", 8}}},
                            {"adc", {{"bits", 8}, {"range", "calibrated"}}}};
  zbphw::CrossbarRequest request;
  request.inputs = request.outputs = width;
  zbphw::CrossbarLinear block(zbphw::read_config<zbphw::CrossbarConfig>(json, "benchmark: $"), request);
  block.program(normal_matrix(width, width, 2));
  return block;
}

// Seconds of one call, over a turn of calls.
template <class Call>
double turn_s(int calls, const Call& call) {
  const double start_s = thread_cpu_s();
  for (int k = 0; k < calls; ++k) call();
  return (thread_cpu_s() - start_s) / calls;
}

void noisy_crossbar(benchmark::State& state) {
  const std::int64_t width = state.range(0);
  const int calls = width < 512 ? 32 : 8;
  zbphw::CrossbarLinear block = programmed_crossbar(width);
  zbphw::QueryBatch queries;
  queries.inputs = normal_matrix(batch, width, 1);
  const at::Tensor weights = normal_matrix(width, width, 2);
  double all_plain_s = 0, all_noisy_s = 0;
  std::vector<double> ratios;
  for (auto _ : state) {
    const double plain_s =
        turn_s(calls, [&] { benchmark::DoNotOptimize(at::mm(queries.inputs, weights).data_ptr<float>()); });
    const double noisy_s = turn_s(calls, [&] {
      ++queries.slot.step;
      benchmark::DoNotOptimize(block.query(queries).values.data_ptr<float>());
    });
    all_plain_s += plain_s;
    all_noisy_s += noisy_s;
    ratios.push_back(plain_s / noisy_s);
    state.SetIterationTime(noisy_s);
  }
  std::sort(ratios.begin(), ratios.end());
  state.counters["plain_us"] = 1e6 * all_plain_s / static_cast<double>(ratios.size());
  state.counters["of_plain"] = all_plain_s / all_noisy_s;
  state.counters["least"] = ratios[ratios.size() / 10];
}

double peak_mb() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

void memory(benchmark::State& state) {
  constexpr std::int64_t rows = 2048, width = 512;
  zbphw::CrossbarLinear block = programmed_crossbar(width);
  zbphw::QueryBatch queries;
  queries.inputs = normal_matrix(rows, width, 1);
  const double before_mb = peak_mb();
  for (auto _ : state) benchmark::DoNotOptimize(block.query(queries).values.data_ptr<float>());
  state.counters["grows_mb"] = peak_mb() - before_mb;
  state.counters["rows_x_inputs_x_outputs_mb"] = 4.0 * rows * width * width / (1 << 20);
}

BENCHMARK(memory)->Iterations(1)->Unit(benchmark::kMicrosecond);
BENCHMARK(noisy_crossbar)->Arg(256)->Iterations(300)->UseManualTime()->Unit(benchmark::kMicrosecond);
BENCHMARK(noisy_crossbar)->Arg(1024)->Iterations(60)->UseManualTime()->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
