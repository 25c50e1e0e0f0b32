#include "hw/chip/chip_modules.hpp"

#include <algorithm>
#include <cmath>

namespace zbphw {
namespace {

sc_core::sc_time picoseconds(double seconds) { return sc_core::sc_time(std::round(seconds * 1e12), sc_core::SC_PS); }

// The kernel's resolution is its default, one picosecond.
std::int64_t count_ps(const sc_core::sc_time& time) { return static_cast<std::int64_t>(time.value()); }

}  // namespace

ChipPlan make_plan(const ChipConfig& chip, const QueryShape& shape) {
  const std::int64_t rounds = std::min(shape.outputs, chip.adc.columns_per_adc) * shape.input_slices;
  return {chip, shape, query_timing(chip, shape), query_energy(chip, shape), rounds};
}

ChipStage::ChipStage(const sc_core::sc_module_name& name, ChipStage* next)
    : sc_core::sc_module(name), next_(next), waiting_("waiting"), queries_inside_("queries_inside") {
  SC_HAS_PROCESS(ChipStage);
  SC_METHOD(finish);
  sensitive << waiting_.get_event();
  dont_initialize();
}

void ChipStage::begin_workload(const ChipPlan& plan) {
  plan_ = &plan;
  events_ = 0;
  busy_ps_ = 0;
}

void ChipStage::accept(QueryJob& job) {
  queries_inside_.write(++inside_);
  book(job);
  hold(job, duration_s());
}

void ChipStage::hold(QueryJob& job, double seconds) {
  const sc_core::sc_time time = picoseconds(seconds);
  busy_ps_ += count_ps(time);
  waiting_.notify(job, time);
}

void ChipStage::finish() {
  while (QueryJob* job = waiting_.get_next_transaction()) {
    ++events_;
    if (!done(*job)) continue;
    queries_inside_.write(--inside_);
    next_->accept(*job);
  }
}

void ChipStage::trace(sc_core::sc_trace_file* file) {
  sc_core::sc_trace(file, queries_inside_, std::string(name()) + ".queries_inside");
}

double Link::duration_s() const {
  return direction_ == Direction::to_chip ? plan().timing.link_in_s : plan().timing.link_out_s;
}

// Both directions' bytes are one figure: it is booked once, on the way in.
void Link::book(QueryJob& job) const {
  if (direction_ == Direction::to_chip) job.energy.link_j += plan().energy.link_j;
}

AdcBank::AdcBank(const sc_core::sc_module_name& name, ChipStage* next)
    : ChipStage(name, next), round_of_first_lane_("round") {}

double AdcBank::duration_s() const {
  return plan().timing.conversions_s / static_cast<double>(plan().conversion_rounds);
}

bool AdcBank::done(QueryJob& job) {
  ++job.rounds_done;
  const bool finished = job.rounds_done == plan().conversion_rounds;
  if (job.lane == 0) round_of_first_lane_.write(finished ? 0 : static_cast<unsigned>(job.rounds_done));
  if (!finished) hold(job, duration_s());
  return finished;
}

void AdcBank::trace_round(sc_core::sc_trace_file* file) {
  sc_core::sc_trace(file, round_of_first_lane_, std::string(name()) + ".round_of_lane_0");
}

Host::Host(const sc_core::sc_module_name& name)
    : ChipStage(name, nullptr), row_of_first_lane_("row"), query_of_first_lane_("query") {
  SC_HAS_PROCESS(Host);
  SC_METHOD(start);
  sensitive << started_;
  dont_initialize();
}

void Host::begin(const ChipPlan& plan, const ChipWorkload& workload, const QueryObserver& observer) {
  begin_workload(plan);
  workload_ = workload;
  observer_ = &observer;
  totals_ = {};
  next_row_ = 0;
  begin_ = sc_core::sc_time_stamp();
  lanes_.assign(static_cast<std::size_t>(std::min(workload.rows, plan.chip.parallel_rows)), {});
  started_.notify(sc_core::SC_ZERO_TIME);
}

void Host::start() {
  for (QueryJob& job : lanes_) {
    job.lane = &job - lanes_.data();
    job.row = next_row_++;
    send(job);
  }
}

void Host::send(QueryJob& job) {
  job.start = sc_core::sc_time_stamp();
  job.rounds_done = 0;
  job.energy = {};
  if (job.lane == 0) {
    row_of_first_lane_.write(static_cast<unsigned>(job.row));
    query_of_first_lane_.write(static_cast<unsigned>(job.query_in_row));
  }
  first_->accept(job);
}

void Host::accept(QueryJob& job) {
  const sc_core::sc_time& now = sc_core::sc_time_stamp();
  ++totals_.queries;
  totals_.dac_conversions += plan().shape.dac_conversions();
  totals_.adc_conversions += plan().shape.adc_conversions();
  totals_.energy += job.energy;
  totals_.elapsed_ps = count_ps(now - begin_);
  if (*observer_) {
    (*observer_)({job.row, job.query_in_row, job.lane, count_ps(job.start - begin_), count_ps(now - begin_),
                  job.energy.total_j()});
  }
  if (++job.query_in_row == workload_.queries_per_row) {
    job.query_in_row = 0;
    if (next_row_ == workload_.rows) return;
    job.row = next_row_++;
  }
  send(job);
}

void Host::trace_rows(sc_core::sc_trace_file* file) {
  sc_core::sc_trace(file, row_of_first_lane_, std::string(name()) + ".row_of_lane_0");
  sc_core::sc_trace(file, query_of_first_lane_, std::string(name()) + ".query_of_lane_0");
}

}  // namespace zbphw
