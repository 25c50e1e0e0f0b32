// A chip's clock: who serves a batch, and what time it is afterwards.
//
// Drift and 1/f noise act on simulated time, so a block asks its chip what a batch took. `noisy` blocks have a clock
// each, moved by the timing equations; the blocks of a `systemc` chip share one, and their batches are transactions on
// its bus: while one block works, the others age.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/chip/chip_config.hpp"
#include "hw/chip/chip_simulation.hpp"

namespace zbphw {

// Queries of one shape in a batch: causal rows of different lengths drive and read different numbers of ports.
struct QueryGroup {
  QueryShape shape;
  std::int64_t queries = 0;
};

struct ChipBatch {
  ChipConfig chip;
  double query_latency_s = 0;  // what every query is given, that of the widest
  ChipWorkload workload;
  std::vector<QueryGroup> groups;
};

// Counts, time and energy of a batch by the timing equations; `events` and `utilisation` stay empty. Elapsed time is
// workload.rows / parallel_rows turns (rounded up) of queries_per_row queries.
ChipTotals batch_totals(const ChipBatch& batch);

class ChipTime {
 public:
  virtual ~ChipTime() = default;

  // Serves a batch that starts now.
  virtual ChipTotals serve(const ChipBatch& batch) = 0;

  double now_s() const { return static_cast<double>(now_ps_) * 1e-12; }
  // What a saved run goes on from; whole picoseconds, exact up to 2 hours of chip time.
  void resume_at(double now_s);

 protected:
  void advance_ps(std::int64_t duration_ps) { now_ps_ += duration_ps; }

 private:
  std::int64_t now_ps_ = 0;
};

// By the timing equations alone.
std::shared_ptr<ChipTime> analytic_chip_time();

// By TLM-2.0 transactions, loosely timed: one blocking transport a batch, temporally decoupled by a quantum keeper.
// All such clocks share the process's SystemC kernel, and each moves by its own transactions only. Not thread-safe.
std::shared_ptr<ChipTime> systemc_chip_time();

}  // namespace zbphw
