// What a noisy crossbar costs: products of a batch of 64 with 8-bit converters and read noise that depends on the
// state, beside the plain matrix product of the same shape in the same run. One thread, CPU time. The limit of two
// products and no overhead is a ratio of .5.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <ctime>
#include <map>

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

// Seconds of the plain product of each size, measured before the crossbar's.
std::map<std::int64_t, double> plain_s;

void plain_product(benchmark::State& state) {
  const at::Tensor inputs = normal_matrix(batch, state.range(0), 1);
  const at::Tensor weights = normal_matrix(state.range(0), state.range(0), 2);
  at::Tensor product = at::mm(inputs, weights);
  const double start_s = thread_cpu_s();
  for (auto _ : state) {
    at::mm_out(product, inputs, weights);
    benchmark::DoNotOptimize(product.data_ptr<float>());
  }
  plain_s[state.range(0)] = (thread_cpu_s() - start_s) / static_cast<double>(state.iterations());
}

void noisy_crossbar(benchmark::State& state) {
  const zbphw::Json json = {{"tile_rows", 1024},
                            {"tile_columns", 1024},
                            {"cell", {{"preset", "pcm_joshi_2020"}}},
                            {"dac", {{"bits", 8}}},
                            {"adc", {{"bits", 8}, {"range", "calibrated"}}}};
  zbphw::CrossbarRequest request;
  request.inputs = request.outputs = state.range(0);
  zbphw::CrossbarLinear block(zbphw::read_config<zbphw::CrossbarConfig>(json, "benchmark: $"), request);
  block.program(normal_matrix(state.range(0), state.range(0), 2));
  zbphw::QueryBatch queries;
  queries.inputs = normal_matrix(batch, state.range(0), 1);
  const double start_s = thread_cpu_s();
  for (auto _ : state) {
    ++queries.slot.step;
    benchmark::DoNotOptimize(block.query(queries).values.data_ptr<float>());
  }
  const double each_s = (thread_cpu_s() - start_s) / static_cast<double>(state.iterations());
  state.counters["of_plain"] = plain_s[state.range(0)] / each_s;
}

BENCHMARK(plain_product)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);
BENCHMARK(noisy_crossbar)->Arg(256)->Arg(1024)->Unit(benchmark::kMicrosecond);

}  // namespace

int main(int argc, char** argv) {
  at::set_num_threads(1);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
