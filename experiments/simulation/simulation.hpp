// One bench session with a subject: what it answers, what it costs, and where its error comes from.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/json.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/chip/chip_simulation.hpp"

namespace zbphw {

// How far `measured` is from `ideal`, both [queries, outputs].
struct ErrorFigures {
  double nsr = 0;             // sum of squared errors over sum of squared ideal values
  double snr_db = 0;          // -10 log10 nsr
  double effective_bits = 0;  // (snr_db - 1.76) / 6.02: of an ideal converter with this ratio for a full-scale sine
  double bias = 0;            // mean error over the root mean square of the ideal values
  double gain = 1;            // least-squares factor from ideal to measured
};
ErrorFigures error_figures(const at::Tensor& measured, const at::Tensor& ideal);

struct LatencyFigures {
  double mean_ns = 0;
  double p50_ns = 0;
  double p99_ns = 0;
};

// What each source adds: the NSR that goes away when it alone is switched off. Sources interact, so the parts need not
// sum to the whole, and one that hides another's error is negative.
using ErrorBySource = std::vector<std::pair<std::string, double>>;

struct DriftPoint {
  double t_s = 0;
  ErrorFigures error;
  ErrorBySource error_by_source;
};

struct SimulationPlan {
  at::Tensor inputs;         // [queries, inputs]
  std::vector<double> at_s;  // drift points
  std::string vcd_path;      // "" for none
};

struct SimulationResult {
  at::Tensor ideal;
  Reading reading;  // at the subject's first time
  ErrorFigures error;
  ErrorBySource error_by_source;  // at the subject's first time
  std::vector<DriftPoint> drift;
  ChipTotals chip;
  std::vector<ServedQuery> served;  // in the order of queries
  LatencyFigures latency;
};

// How many times `progress` is called.
std::int64_t count_steps(const SimulationSubject& subject, const SimulationPlan& plan);

// `progress(done, note)` is called as steps finish; it may be empty.
using StepObserver = std::function<void(std::int64_t done, const std::string& note)>;
// Throws a data Error when every exact answer is 0.
SimulationResult run_simulation(SimulationSubject& subject, const SimulationPlan& plan, const StepObserver& progress);

// The unit that works most of the time; "" where nobody knows.
std::string bottleneck(const ChipTotals& chip);

// The keys of `zbphw simulate --json` that come from the session.
Json simulation_json(const SimulationSubject& subject, const SimulationResult& result);

// The same for a person.
std::string simulation_text(const SimulationSubject& subject, const SimulationResult& result);

struct TraceInfo {
  std::uint64_t seed = 0;
  std::string device_json;
  std::int64_t every = 1;  // queries in the trace: this one, of so many
};
// Writes signals, queries and states of cells at the drift points. Throws a data Error.
void write_simulation_trace(const std::string& path, const TraceInfo& info, SimulationSubject& subject,
                            const SimulationPlan& plan, const SimulationResult& result);

}  // namespace zbphw
