#include "hw/chip/chip_time.hpp"

#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own

#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"
#include "hw/block_registry.hpp"
#include "hw/physical_block.hpp"
#include "random_chip.hpp"

using namespace zbphw;

namespace {

void check_same(const ChipTotals& a, const ChipTotals& b) {
  const auto same = [](double value) { return Approx(value).epsilon(1e-12); };
  CHECK(a.queries == b.queries);
  CHECK(a.dac_conversions == b.dac_conversions);
  CHECK(a.adc_conversions == b.adc_conversions);
  CHECK(a.elapsed_ps == b.elapsed_ps);
  CHECK(a.energy.link_j == same(b.energy.link_j));
  CHECK(a.energy.dac_j == same(b.energy.dac_j));
  CHECK(a.energy.array_j == same(b.energy.array_j));
  CHECK(a.energy.adc_j == same(b.energy.adc_j));
  CHECK(a.energy.digital_j == same(b.energy.digital_j));
}

// A gate with exact ports whose outputs' offsets move along ramps, on a link of this latency.
std::unique_ptr<PhysicalBlock> drifting_gate(double link_latency_ns, Fidelity fidelity) {
  Json config = {{"dac", {{"bits", "ideal"}}},
                 {"adc", {{"bits", "ideal"}, {"range", "fixed"}, {"full_scale", 1}}},
                 {"drift", {{"offset_ramp_fraction_per_s", 10}, {"calibration_period_s", 1000}}},
                 {"chip", {{"link", {{"latency_ns", link_latency_ns}}}, {"parallel_rows", 4096}}}};
  BlockRequest request;
  request.output_width = 24;
  request.fidelity = fidelity;
  request.seed = 5;
  if (fidelity == Fidelity::systemc) request.time = systemc_chip_time();
  return make_block("swiglu", {config, "test: $"}, request);
}

ProbeRequest probe_of(const PhysicalBlock& block, SideOrder order) {
  const RandomAt at(9, stream_id("drift test"));
  ProbeRequest request;
  // One point and cotangent for all rows, so that the law's norms are the same for each.
  request.point = at::empty({1, block.spec().input_width});
  request.cotangent = at::empty({1, block.spec().output_width});
  for (std::int64_t j = 0; j < request.point.numel(); ++j) {
    request.point.data_ptr<float>()[j] = static_cast<float>(at.normal(static_cast<std::uint32_t>(j)));
  }
  for (std::int64_t j = 0; j < request.cotangent.numel(); ++j) {
    request.cotangent.data_ptr<float>()[j] = static_cast<float>(at.normal(static_cast<std::uint32_t>(1000 + j)));
  }
  request.point = request.point.repeat({400, 1});
  request.cotangent = request.cotangent.repeat({400, 1});
  request.probes = 8;
  request.amplitude = 0.25;
  request.order = order;
  request.slot.start_s = 0;
  return request;
}

// g . r, with r what the outputs drift by from one query to the next: read at two times, a second apart.
double drift_along(PhysicalBlock& block, const ProbeRequest& probe, double latency_s) {
  QueryBatch batch;
  batch.inputs = probe.point.narrow(0, 0, 1);
  batch.slot.start_s = 1;
  const at::Tensor later = block.query(batch).values.to(at::kDouble);
  batch.slot.start_s = 0;
  const at::Tensor ramp = later - block.query(batch).values.to(at::kDouble);
  return (ramp[0] * probe.cotangent[0].to(at::kDouble)).sum().item<double>() * latency_s;
}

// ||v_hat - v_hat without drift||^2 of every row, [rows].
at::Tensor drift_error(PhysicalBlock& block, const ProbeRequest& probe) {
  BlockRequest request;
  request.output_width = block.spec().output_width;
  request.fidelity = Fidelity::ideal;
  const auto still = make_block("swiglu", {Json::object(), "test: $"}, request);
  const at::Tensor difference = block.probe(probe).estimate - still->probe(probe).estimate;
  return difference.to(at::kDouble).square().sum(1);
}

}  // namespace

TEST_CASE("a loose transaction, the event simulation and the ledger agree on random chips and batches") {
  const auto loose = systemc_chip_time();
  std::int64_t elapsed_ps = 0;
  for (std::uint32_t trial = 0; trial < 60; ++trial) {
    const RandomAt at(6, stream_id("random chips"), trial);
    const ChipConfig chip = random_chip(at);
    const QueryShape shape = random_shape(at);
    const ChipWorkload workload{1 + static_cast<std::int64_t>(at.below(30, 30)),
                                1 + static_cast<std::int64_t>(at.below(6, 31))};
    INFO("trial " << trial);
    const ChipBatch batch{
        chip, query_timing(chip, shape).latency_s(), workload, {{shape, workload.rows * workload.queries_per_row}}};
    const ChipTotals transaction = loose->serve(batch);
    check_same(transaction, simulate_chip(chip, shape, workload));
    check_same(transaction, batch_totals(batch));
    elapsed_ps += transaction.elapsed_ps;
    CHECK(loose->now_s() == static_cast<double>(elapsed_ps) * 1e-12);
  }
}

TEST_CASE("blocks of one chip age together, and blocks with clocks of their own do not") {
  BlockRequest request;
  request.output_width = 8;
  for (const bool shared : {true, false}) {
    request.time = shared ? systemc_chip_time() : nullptr;
    const auto first = make_block("swiglu", {Json::object(), "test: $"}, request);
    const auto second = make_block("softmax", {Json::object(), "test: $"}, request);
    QueryBatch batch;
    batch.inputs = at::ones({3, 16});
    first->query(batch);
    CHECK(first->clock_s() > 0);
    CHECK(second->clock_s() == (shared ? first->clock_s() : 0));
    CHECK(second->meter().busy_s == 0);
  }
}

TEST_CASE("a clock that is resumed goes on in the same picoseconds") {
  const ChipConfig chip = random_chip({6, stream_id("random chips"), 1});
  const QueryShape shape{30, 20, 600, 8, 8};
  const ChipBatch batch{chip, query_timing(chip, shape).latency_s(), {7, 3}, {{shape, 21}}};
  const auto whole = systemc_chip_time();
  const auto resumed = systemc_chip_time();
  for (int k = 0; k < 1000; ++k) whole->serve(batch);
  resumed->resume_at(whole->now_s());
  whole->serve(batch);
  resumed->serve(batch);
  CHECK(whole->now_s() == resumed->now_s());
}

TEST_CASE("drift enters a probe with the law's size, at any speed of the link, and mirrored sides take it out") {
  // d (g . r)^2 / (4 n rho^2), r the drift of the outputs in one query: a pair's sides are one query apart.
  for (const double link_latency_ns : {1e3, 1e6}) {
    const auto block = drifting_gate(link_latency_ns, Fidelity::systemc);
    const ProbeRequest probe = probe_of(*block, SideOrder::alternating);
    ChipConfig chip;
    chip.link.latency_ns = link_latency_ns;
    const double latency_s = query_timing(chip, {48, 24, 24, 16, 16}).latency_s();
    const double along = drift_along(*block, probe, latency_s);
    const double law = 48 * along * along / (4 * 8 * 0.25 * 0.25);
    const at::Tensor error = drift_error(*block, probe);
    const double mean = error.mean().item<double>();
    const double standard_error = error.std().item<double>() / std::sqrt(400.0);
    INFO("link " << link_latency_ns << " ns: measured " << mean << " +- " << standard_error << ", law " << law);
    // Five standard errors, and what single precision adds to an estimate of order 1.
    CHECK(std::fabs(mean - law) < 5 * standard_error + 1e-9);
    CHECK(law > 1e-9);

    const auto again = drifting_gate(link_latency_ns, Fidelity::systemc);
    const double left = drift_error(*again, probe_of(*again, SideOrder::mirrored)).mean().item<double>();
    CHECK(left < 1e-3 * law + 1e-9);
    CHECK(again->meter().queries == 2 * block->meter().queries - 4);  // drift_along asked two more
  }
}
