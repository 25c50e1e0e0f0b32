#include <ATen/ATen.h>

#include "base/version.hpp"
#include "experiments/simulation/simulation.hpp"

namespace zbphw {
namespace {

// Every `every`-th row, from the first.
void append_rows(TraceWriter& trace, TraceWriter::Series series, const at::Tensor& rows, std::int64_t every) {
  const at::Tensor values = rows.slice(0, 0, rows.size(0), every).to(at::kFloat).contiguous();
  trace.append(series, values.data_ptr<float>(), values.size(0));
}

}  // namespace

void write_simulation_trace(const std::string& path, const TraceInfo& info, SimulationSubject& subject,
                            const SimulationPlan& plan, const SimulationResult& result) {
  TraceHeader header;
  header.command = "simulate";
  header.version = std::string(version()) + " (commit " + commit() + ")";
  header.seed = info.seed;
  header.device_json = info.device_json;
  TraceWriter trace(path, header);
  const auto row = trace.add_series({"/queries/row", "1", "number of the query, from 0", {}, Hdf5Type::int64});
  const auto start = trace.add_series({"/queries/t_start_ns", "ns", "when the host sent the query", {}});
  const auto end = trace.add_series({"/queries/t_end_ns", "ns", "when the host had the answer", {}});
  const auto energy = trace.add_series({"/queries/energy_pj", "pJ", "energy of the query", {}});
  const auto saturated =
      trace.add_series({"/queries/saturated", "1", "conversions beyond a converter's range", {}, Hdf5Type::int64});
  const auto block = trace.add_series({"/queries/block", "1", "which block was asked", {}, Hdf5Type::int64});
  trace.set_attribute("/queries/block", "names", subject.block_name());
  const Hdf5Type f32 = Hdf5Type::float32;
  const auto input = trace.add_series({"/signals/input", "1", "what was asked", {subject.inputs()}, f32});
  const auto ideal = trace.add_series({"/signals/ideal", "1", "the exact answer", {subject.outputs()}, f32});
  const auto measured = trace.add_series({"/signals/measured", "1", "the device's answer", {subject.outputs()}, f32});
  subject.declare_state(trace, plan.at_s);
  trace.start();
  const std::int64_t only_block = 0;
  const auto every = static_cast<std::size_t>(info.every);
  for (std::size_t q = 0; q < result.served.size(); q += every) {
    const ServedQuery& query = result.served[q];
    const double t_start_ns = static_cast<double>(query.start_ps) * 1e-3;
    const double t_end_ns = static_cast<double>(query.end_ps) * 1e-3;
    const double energy_pj = query.energy_j * 1e12;
    trace.append(row, &query.row, 1);
    trace.append(start, &t_start_ns, 1);
    trace.append(end, &t_end_ns, 1);
    trace.append(energy, &energy_pj, 1);
    trace.append(saturated, &result.reading.saturated[q], 1);
    trace.append(block, &only_block, 1);
  }
  append_rows(trace, input, plan.inputs, info.every);
  append_rows(trace, ideal, result.ideal, info.every);
  append_rows(trace, measured, result.reading.values, info.every);
  subject.write_state(trace, plan.at_s);
  trace.finish();
}

}  // namespace zbphw
