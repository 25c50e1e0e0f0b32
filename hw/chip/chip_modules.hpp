// The SystemC modules of the chip (chip_simulation.hpp). Included by SystemC sources only.
#pragma once

#include <tlm_utils/peq_with_get.h>
#include <systemc>

#include <cstdint>
#include <string>
#include <vector>

#include "hw/chip/chip_config.hpp"
#include "hw/chip/chip_simulation.hpp"

namespace zbphw {

// What the modules are told about a chip: its stages in picoseconds, its energies.
struct ChipPlan {
  ChipConfig chip;
  QueryShape shape;
  QueryTiming timing;
  EnergyByComponent energy;  // of one query
  std::int64_t conversion_rounds = 1;
};

ChipPlan make_plan(const ChipConfig& chip, const QueryShape& shape);

// A query on its way through the chip.
struct QueryJob {
  std::int64_t lane = 0;
  std::int64_t row = 0;
  std::int64_t query_in_row = 0;
  std::int64_t rounds_done = 0;
  sc_core::sc_time start;
  EnergyByComponent energy;
};

// A unit with room for one query of each lane: a query stays for a time of the plan and goes on to the next unit.
class ChipStage : public sc_core::sc_module {
 public:
  ChipStage(const sc_core::sc_module_name& name, ChipStage* next);

  void begin_workload(const ChipPlan& plan);
  virtual void accept(QueryJob& job);
  void trace(sc_core::sc_trace_file* file);

  std::int64_t events() const { return events_; }
  std::int64_t busy_ps() const { return busy_ps_; }

 protected:
  const ChipPlan& plan() const { return *plan_; }
  // The job stays for this long from now.
  void hold(QueryJob& job, double seconds);

 private:
  virtual double duration_s() const = 0;
  virtual void book(QueryJob& job) const = 0;
  // Whether the job is done here; otherwise the stage has kept it.
  virtual bool done(QueryJob&) { return true; }
  void finish();

  const ChipPlan* plan_ = nullptr;
  ChipStage* next_;
  std::int64_t events_ = 0;
  std::int64_t busy_ps_ = 0;
  tlm_utils::peq_with_get<QueryJob> waiting_;
  // Written by the unit before it and by itself.
  sc_core::sc_signal<unsigned, sc_core::SC_MANY_WRITERS> queries_inside_;
  unsigned inside_ = 0;
};

class Link final : public ChipStage {
 public:
  enum class Direction { to_chip, to_host };
  Link(const sc_core::sc_module_name& name, ChipStage* next, Direction direction)
      : ChipStage(name, next), direction_(direction) {}

 private:
  double duration_s() const override;
  void book(QueryJob& job) const override;
  Direction direction_;
};

// Takes no time of its own: the order of queries within a lane is the host's.
class Sequencer final : public ChipStage {
 public:
  using ChipStage::ChipStage;

 private:
  double duration_s() const override { return 0; }
  void book(QueryJob&) const override {}
};

class DacBank final : public ChipStage {
 public:
  using ChipStage::ChipStage;

 private:
  double duration_s() const override { return plan().timing.dac_s; }
  void book(QueryJob& job) const override { job.energy.dac_j += plan().energy.dac_j; }
};

class ArrayTiles final : public ChipStage {
 public:
  using ChipStage::ChipStage;

 private:
  double duration_s() const override { return plan().timing.array_s; }
  void book(QueryJob& job) const override { job.energy.array_j += plan().energy.array_j; }
};

// Every converter takes its columns one after the other: a round converts one column of each.
class AdcBank final : public ChipStage {
 public:
  AdcBank(const sc_core::sc_module_name& name, ChipStage* next);
  void trace_round(sc_core::sc_trace_file* file);

 private:
  double duration_s() const override;
  void book(QueryJob& job) const override { job.energy.adc_j += plan().energy.adc_j; }
  bool done(QueryJob& job) override;

  sc_core::sc_signal<unsigned> round_of_first_lane_;
};

class DigitalPart final : public ChipStage {
 public:
  using ChipStage::ChipStage;

 private:
  double duration_s() const override { return plan().timing.digital_s; }
  void book(QueryJob& job) const override { job.energy.digital_j += plan().energy.digital_j; }
};

// Sends each lane's queries, the next when the answer is there, and adds up what was served.
class Host final : public ChipStage {
 public:
  explicit Host(const sc_core::sc_module_name& name);
  void connect(ChipStage& first) { first_ = &first; }

  // Before the kernel runs. The plan, the observer and the host stay until it has.
  void begin(const ChipPlan& plan, const ChipWorkload& workload, const QueryObserver& observer);
  void accept(QueryJob& job) override;
  const ChipTotals& totals() const { return totals_; }
  void trace_rows(sc_core::sc_trace_file* file);

 private:
  double duration_s() const override { return 0; }
  void book(QueryJob&) const override {}
  void start();
  void send(QueryJob& job);

  ChipStage* first_ = nullptr;
  ChipWorkload workload_;
  const QueryObserver* observer_ = nullptr;
  std::vector<QueryJob> lanes_;
  std::int64_t next_row_ = 0;
  sc_core::sc_time begin_;
  sc_core::sc_event started_;
  ChipTotals totals_;
  sc_core::sc_signal<unsigned, sc_core::SC_MANY_WRITERS> row_of_first_lane_;
  sc_core::sc_signal<unsigned, sc_core::SC_MANY_WRITERS> query_of_first_lane_;
};

}  // namespace zbphw
