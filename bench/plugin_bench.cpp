// What the plugin interface costs: batches of swiglu queries, 64 outputs of 128 inputs, asked of the built-in
// simulator, of the same simulator as a plugin in this process and in a child, of the C sample (next to no work of its
// own: the interface alone), and of the Python sample. Wall time of one batch, one thread, and its ratio to the
// built-in block.
#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <chrono>
#include <map>
#include <string>

#include "hw/block_registry.hpp"
#include "hw/device_config.hpp"

namespace {

constexpr std::int64_t outputs = 64;

using Clock = std::chrono::steady_clock;

// Seconds of one batch on the built-in block, by the number of rows; measured first.
std::map<std::int64_t, double> built_in_s;

std::unique_ptr<zbphw::PhysicalBlock> make(const zbphw::Json& section) {
  zbphw::BlockRequest request;
  request.output_width = outputs;
  return zbphw::make_block("swiglu", {section, "benchmark: $"}, request);
}

double ask(benchmark::State& state, zbphw::PhysicalBlock& block) {
  at::set_num_threads(1);
  zbphw::QueryBatch batch;
  batch.inputs = at::sin(at::arange(state.range(0) * 2 * outputs, at::kDouble)).to(at::kFloat).view({-1, 2 * outputs});
  block.query(batch);
  const auto start = Clock::now();
  for (auto _ : state) benchmark::DoNotOptimize(block.query(batch).values.data_ptr<float>());
  return std::chrono::duration<double>(Clock::now() - start).count() / static_cast<double>(state.iterations());
}

void built_in(benchmark::State& state) {
  const auto block = make(zbphw::load_device("default").block("swiglu").value);
  built_in_s[state.range(0)] = ask(state, *block);
}

void attached(benchmark::State& state, const zbphw::Json& plugin) {
  const auto block = make({{"plugin", plugin}});
  state.counters["ratio"] = ask(state, *block) / built_in_s[state.range(0)];
}

void register_all(const char* name, const zbphw::Json& plugin) {
  const auto run = [plugin](benchmark::State& state) { attached(state, plugin); };
  benchmark::RegisterBenchmark(name, run)->Arg(1)->Arg(64)->Arg(1024)->UseRealTime()->Unit(benchmark::kMicrosecond);
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  benchmark::RegisterBenchmark("built_in", built_in)
      ->Arg(1)
      ->Arg(64)
      ->Arg(1024)
      ->UseRealTime()
      ->Unit(benchmark::kMicrosecond);
  const zbphw::Json device = {{"device", "default"}};
  register_all("simulator_direct", {{"library", ZBPHW_SIMULATOR_PLUGIN}, {"options", device}, {"isolation", "none"}});
  register_all("simulator_isolated", {{"library", ZBPHW_SIMULATOR_PLUGIN}, {"options", device}});
  register_all("c_sample_direct", {{"library", ZBPHW_MY_CHIP}, {"isolation", "none"}});
  register_all("c_sample_isolated", {{"library", ZBPHW_MY_CHIP}});
  register_all("python_sample", {{"command", {"/usr/bin/python3", ZBPHW_MY_BENCH}}});
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
