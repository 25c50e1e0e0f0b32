// What `zbphw simulate` puts on the bench: a crossbar with a matrix, one activation block, or a chip that is attached.
//
// A subject answers the same inputs again and again, with one source of error switched off or at another time. The
// noise of a query is addressed by the query's number, so two readings differ by what was switched and nothing else.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "base/trace_writer.hpp"
#include "hw/chip/chip_simulation.hpp"
#include "hw/device_config.hpp"
#include "hw/meter.hpp"

namespace zbphw {

struct Reading {
  at::Tensor values;                    // [queries, outputs]
  std::vector<std::int64_t> saturated;  // [queries], conversions of both converters beyond their range
  std::int64_t saturated_outputs = 0;   // of all queries
  std::int64_t adc_conversions = 0;     // 0: nobody counts them
};

// Where the energies of a chip's parts are from.
struct EnergySources {
  std::string link;
  std::string dac;
  std::string array;
  std::string adc;
  std::string digital;
};
inline EnergySources energy_sources_of(const ChipConfig& chip) {
  return {chip.link.source, chip.dac.source, chip.array.source, chip.adc.source, chip.digital.source};
}

class SimulationSubject {
 public:
  virtual ~SimulationSubject() = default;

  virtual std::string block_name() const = 0;
  virtual std::int64_t inputs() const = 0;
  virtual std::int64_t outputs() const = 0;

  // Time and energy of `queries` queries, one after the other, each told to `observer`. After the first read().
  // `vcd_path`: where to write the units' signals; "" for nowhere.
  virtual ChipTotals serve(std::int64_t queries, const QueryObserver& observer, const std::string& vcd_path) = 0;
  virtual EnergySources energy_sources() const = 0;
  // The stages of one query, after the first read(); none where nobody knows them.
  virtual std::optional<QueryTiming> timing() const { return std::nullopt; }
  // Multiplications and additions that a query stands for; 0 for a block that is no matrix.
  virtual std::int64_t operations_per_query() const { return 0; }

  // What an exact device would answer, [queries, outputs] in double precision where that is possible.
  virtual at::Tensor ideal(const at::Tensor& inputs) = 0;

  // The names of what can be switched off.
  virtual std::vector<std::string> error_sources() const = 0;
  // Whether the device has this source at all: without, switching it off changes nothing.
  virtual bool has_source(const std::string&) const { return true; }
  // Every query answered at t_s; `source_off` is one of error_sources(), or "" for none.
  virtual Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) = 0;

  // When queries are made unless --at-s says otherwise, and what is shown of the drift.
  virtual double first_time_s() const = 0;
  virtual std::vector<double> drift_times_s() const = 0;
  // Throws a usage Error when the device's models do not cover the time.
  virtual void check_time(double t_s) const = 0;

  // Results of this kind of subject alone, and their lines for a person.
  virtual Json details() const = 0;
  virtual std::string details_text() const = 0;
  virtual EnergyByComponent programming_energy() const { return {}; }

  // State of cells: series are declared before the trace starts and written after.
  virtual void declare_state(TraceWriter&, const std::vector<double>&) {}
  virtual void write_state(TraceWriter&, const std::vector<double>&) {}
};

// A crossbar that holds `weights` [outputs, inputs]. The device must have one. Throws what programming throws.
std::unique_ptr<SimulationSubject> crossbar_subject(const DeviceConfig& device, const at::Tensor& weights,
                                                    std::uint64_t seed);

// The activation block of this name with the given output width.
std::unique_ptr<SimulationSubject> block_subject(const DeviceConfig& device, const std::string& block,
                                                 std::int64_t output_width, std::uint64_t seed);

// The device's equilibrium block, `width` nodes wide.
std::unique_ptr<SimulationSubject> equilibrium_subject(const DeviceConfig& device, std::int64_t width,
                                                       std::uint64_t seed);

// The device's photonic mesh, holding `weights` [outputs, inputs]. Throws what programming throws.
std::unique_ptr<SimulationSubject> photonic_subject(const DeviceConfig& device, const at::Tensor& weights,
                                                    std::uint64_t seed);

// The block of this name on the plugin that the device names. `weights` [outputs, inputs] are programmed if it holds
// some; of blocks that zbphw simulates it may be undefined, and `output_width` counts. Throws a device Error.
std::unique_ptr<SimulationSubject> plugin_subject(const DeviceConfig& device, const std::string& block,
                                                  const at::Tensor& weights, std::int64_t output_width,
                                                  std::uint64_t seed);

}  // namespace zbphw
