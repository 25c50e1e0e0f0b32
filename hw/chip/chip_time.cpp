#include "hw/chip/chip_time.hpp"

#include <cmath>

namespace zbphw {
namespace {

class AnalyticChipTime final : public ChipTime {
 public:
  ChipTotals serve(const ChipBatch& batch) override {
    ChipTotals totals = batch_totals(batch);
    advance_ps(totals.elapsed_ps);
    return totals;
  }
};

}  // namespace

ChipTotals batch_totals(const ChipBatch& batch) {
  ChipTotals totals;
  for (const QueryGroup& group : batch.groups) {
    totals.queries += group.queries;
    totals.dac_conversions += group.queries * group.shape.dac_conversions();
    totals.adc_conversions += group.queries * group.shape.adc_conversions();
    totals.energy += query_energy(batch.chip, group.shape).scaled(static_cast<double>(group.queries));
  }
  const double duration_s =
      batch_duration_s(batch.chip, batch.query_latency_s, batch.workload.rows, batch.workload.queries_per_row);
  totals.elapsed_ps = std::llround(duration_s * 1e12);
  return totals;
}

void ChipTime::resume_at(double now_s) { now_ps_ = std::llround(now_s * 1e12); }

std::shared_ptr<ChipTime> analytic_chip_time() { return std::make_shared<AnalyticChipTime>(); }

}  // namespace zbphw
