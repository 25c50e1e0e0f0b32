// The chip in time, event by event (SystemC):
//
//   host -> link -> sequencer -> DAC bank -> array -> ADC bank (shared columns, round by round) -> digital -> link ->
//   host
//
// Each of the chip's parallel_rows lanes takes the next waiting row and serves its queries one after the other. Stages
// take their durations from query_timing() and their energies from query_energy(), so the totals of a batch equal the
// analytic ledger's: time to the picosecond, counts exactly, energies to the rounding of their sums.
//
// The SystemC kernel is one for the whole process and cannot be elaborated twice: the modules are built at the first
// call and told what chip they are at each. Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hw/chip/chip_config.hpp"
#include "hw/meter.hpp"

namespace zbphw {

struct ChipWorkload {
  std::int64_t rows = 1;
  std::int64_t queries_per_row = 1;
};

// One query, from the moment the host sends it to the moment it has the answer; times since the workload's start.
struct ServedQuery {
  std::int64_t row = 0;
  std::int64_t query_in_row = 0;
  std::int64_t lane = 0;
  std::int64_t start_ps = 0;
  std::int64_t end_ps = 0;
  double energy_j = 0;
};

struct ChipTotals {
  std::int64_t queries = 0;
  std::int64_t dac_conversions = 0;
  std::int64_t adc_conversions = 0;
  std::int64_t events = 0;      // completions of a stage or of a round of conversions
  std::int64_t elapsed_ps = 0;  // from the first query sent to the last answer
  EnergyByComponent energy;
  // How much of the elapsed time each unit works, averaged over lanes: 1 is the bottleneck that never rests.
  std::vector<std::pair<std::string, double>> utilisation;
};

using QueryObserver = std::function<void(const ServedQuery&)>;

// Serves the workload. `observer` may be empty. `vcd_path`: where to write the units' signals for GTKWave; "" for
// nowhere. Throws a data Error when that file cannot be written, and a config Error for an empty workload.
ChipTotals simulate_chip(const ChipConfig& chip, const QueryShape& shape, const ChipWorkload& workload,
                         const QueryObserver& observer = {}, const std::string& vcd_path = "");

}  // namespace zbphw
