#include "hw/chip/chip_simulation.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/error.hpp"
#include "random_chip.hpp"
#include "scratch_directory.hpp"

using namespace zbphw;

namespace {

void check_energy(const EnergyByComponent& simulated, const EnergyByComponent& analytic) {
  const auto same = [](double value) { return Approx(value).epsilon(1e-12); };
  CHECK(simulated.link_j == same(analytic.link_j));
  CHECK(simulated.dac_j == same(analytic.dac_j));
  CHECK(simulated.array_j == same(analytic.array_j));
  CHECK(simulated.adc_j == same(analytic.adc_j));
  CHECK(simulated.digital_j == same(analytic.digital_j));
  CHECK(simulated.programming_j == 0);
}

}  // namespace

TEST_CASE("the event simulation's totals are the analytic ledger's on random chips and batches") {
  for (std::uint32_t trial = 0; trial < 40; ++trial) {
    const RandomAt at(5, stream_id("random chips"), trial);
    const ChipConfig chip = random_chip(at);
    const QueryShape shape = random_shape(at);
    const ChipWorkload workload{1 + static_cast<std::int64_t>(at.below(30, 30)),
                                1 + static_cast<std::int64_t>(at.below(6, 31))};
    INFO("trial " << trial);
    const ChipTotals totals = simulate_chip(chip, shape, workload);
    const std::int64_t queries = workload.rows * workload.queries_per_row;
    CHECK(totals.queries == queries);
    CHECK(totals.dac_conversions == queries * shape.inputs * shape.input_slices);
    CHECK(totals.adc_conversions == queries * shape.outputs * shape.partial_sums * shape.input_slices);
    const double latency_s = query_timing(chip, shape).latency_s();
    CHECK(totals.elapsed_ps ==
          std::llround(batch_duration_s(chip, latency_s, workload.rows, workload.queries_per_row) * 1e12));
    check_energy(totals.energy, query_energy(chip, shape).scaled(static_cast<double>(queries)));
  }
}

TEST_CASE("one query's life takes the sum of its stages (worked by hand)") {
  ChipConfig chip;
  chip.link.latency_ns = 100;
  chip.link.bandwidth_gb_per_s = 1;
  chip.dac.settle_ns = 2;
  chip.array.settle_ns = 10;
  chip.adc.columns_per_adc = 4;
  chip.adc.conversion_base_ns = 1;
  chip.adc.conversion_per_bit_ns = 1;
  chip.digital.latency_ns = 3;
  QueryShape shape;
  shape.inputs = 16;
  shape.outputs = 8;
  shape.dac_bits = 8;
  shape.adc_bits = 8;
  // 50 + 16 bytes at 1 GB/s, 2, 10, 4 rounds of 9, 3, 50 + 8 bytes.
  const std::int64_t expected_ps = (50 + 16 + 2 + 10 + 4 * 9 + 3 + 50 + 8) * 1000;
  std::vector<ServedQuery> served;
  const ChipTotals totals = simulate_chip(chip, shape, {1, 2}, [&](const ServedQuery& q) { served.push_back(q); });
  REQUIRE(served.size() == 2);
  CHECK(served[0].start_ps == 0);
  CHECK(served[0].end_ps == expected_ps);
  CHECK(served[1].start_ps == expected_ps);
  CHECK(served[1].query_in_row == 1);
  CHECK(totals.elapsed_ps == 2 * expected_ps);
  CHECK(totals.events == 2 * 10);  // six stages and the sequencer, of which the ADC bank four times
  double sum = 0;
  for (const auto& [unit, busy] : totals.utilisation) sum += busy;
  CHECK(sum == Approx(1));  // one lane without pipelining: some unit works at any moment
}

TEST_CASE("lanes serve rows side by side, each row's queries in order") {
  ChipConfig chip;
  chip.parallel_rows = 3;
  QueryShape shape;
  shape.inputs = shape.outputs = 4;
  std::vector<ServedQuery> served;
  simulate_chip(chip, shape, {7, 2}, [&](const ServedQuery& q) { served.push_back(q); });
  REQUIRE(served.size() == 14);
  std::set<std::pair<std::int64_t, std::int64_t>> seen;
  std::int64_t at_start = 0;
  for (const ServedQuery& q : served) {
    seen.emplace(q.row, q.query_in_row);
    at_start += q.start_ps == 0 ? 1 : 0;
    CHECK(q.lane == q.row % 3);
  }
  CHECK(seen.size() == 14);
  CHECK(at_start == 3);
}

TEST_CASE("a VCD file shows the units") {
  const ScratchDirectory scratch;
  ChipConfig chip;
  QueryShape shape;
  shape.inputs = shape.outputs = 16;
  simulate_chip(chip, shape, {2, 1}, {}, scratch.path("chip.vcd"));
  const std::string vcd = file_text(scratch.path("chip.vcd"));
  for (const char* signal : {"dac_bank.queries_inside", "adc_bank.round_of_lane_0", "host.row_of_lane_0"}) {
    const std::string text = signal;
    CHECK_THAT(vcd, Catch::Contains(text.substr(text.find('.') + 1)));
  }
  CHECK_THAT(vcd, Catch::Contains("1 ps"));
  CHECK(std::count(vcd.begin(), vcd.end(), '#') > 10);
  CHECK_THROWS_AS(simulate_chip(chip, shape, {1, 1}, {}, scratch.path("no/such/dir.vcd")), Error);
  CHECK_THROWS_AS(simulate_chip(chip, shape, {1, 1}, {}, scratch.path("chip.txt")), Error);
  CHECK_THROWS_AS(simulate_chip(chip, shape, {0, 1}), Error);
}
