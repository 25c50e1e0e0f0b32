#include "hw/chip/chip_simulation.hpp"

#include <cstdio>
#include <memory>

#include "base/error.hpp"
#include "hw/chip/chip_modules.hpp"
#include "hw/chip/chip_time.hpp"
#include "hw/chip/loose_modules.hpp"

namespace zbphw {
namespace {

// All modules of both fidelities, wired up. There is one object, made before the kernel first runs.
class Chip {
 public:
  static Chip& instance() {
    // Never destroyed: the kernel's own objects are gone before function statics are.
    static Chip* chip = new Chip;
    return *chip;
  }

  ChipTotals serve(const ChipPlan& plan, const ChipWorkload& workload, const QueryObserver& observer) {
    for (ChipStage* stage : stages_) stage->begin_workload(plan);
    host_.begin(plan, workload, observer);
    sc_core::sc_start();  // until nothing is under way
    ChipTotals totals = host_.totals();
    const auto lanes = static_cast<double>(std::min(workload.rows, plan.chip.parallel_rows));
    for (const ChipStage* stage : stages_) {
      totals.events += stage->events();
      const double lane_time_ps = lanes * static_cast<double>(totals.elapsed_ps);
      const double busy = lane_time_ps > 0 ? static_cast<double>(stage->busy_ps()) / lane_time_ps : 0;
      if (stage != &sequencer_) totals.utilisation.emplace_back(stage->basename(), busy);
    }
    return totals;
  }

  ChipTotals serve_loosely(const ChipBatch& batch) { return loose_host_.serve(batch); }

  void trace(sc_core::sc_trace_file* file) {
    host_.trace_rows(file);
    for (ChipStage* stage : stages_) stage->trace(file);
    adc_.trace_round(file);
  }

 private:
  Chip() {
    host_.connect(link_in_);
    loose_host_.socket.bind(loose_chip_.socket);
    sc_core::sc_report_handler::set_actions(sc_core::SC_INFO, sc_core::SC_DO_NOTHING);
  }

  Host host_{"host"};
  Link link_out_{"link_to_host", &host_, Link::Direction::to_host};
  DigitalPart digital_{"digital", &link_out_};
  AdcBank adc_{"adc_bank", &digital_};
  ArrayTiles array_{"array", &adc_};
  DacBank dac_{"dac_bank", &array_};
  Sequencer sequencer_{"sequencer", &dac_};
  Link link_in_{"link_to_chip", &sequencer_, Link::Direction::to_chip};
  LooseChip loose_chip_{"loose_chip"};
  LooseHost loose_host_{"loose_host"};
  std::vector<ChipStage*> stages_ = {&link_in_, &sequencer_, &dac_, &array_, &adc_, &digital_, &link_out_};
};

class SystemcChipTime final : public ChipTime {
 public:
  ChipTotals serve(const ChipBatch& batch) override {
    ChipTotals totals = Chip::instance().serve_loosely(batch);
    advance_ps(totals.elapsed_ps);
    return totals;
  }
};

struct CloseTrace {
  void operator()(sc_core::sc_trace_file* file) const { sc_core::sc_close_vcd_trace_file(file); }
};
using TraceFile = std::unique_ptr<sc_core::sc_trace_file, CloseTrace>;

// SystemC appends ".vcd" by itself, and ends the process when it cannot open the file.
TraceFile open_vcd(const std::string& path) {
  const std::string ending = ".vcd";
  const bool has_ending = path.size() > ending.size() && path.substr(path.size() - ending.size()) == ending;
  if (!has_ending) throw data_error(path, "a VCD file's name ends with .vcd");
  std::FILE* probe = std::fopen(path.c_str(), "w");
  if (probe == nullptr) throw data_error(path, "cannot be written");
  std::fclose(probe);
  TraceFile file(sc_core::sc_create_vcd_trace_file(path.substr(0, path.size() - ending.size()).c_str()));
  file->set_time_unit(1, sc_core::SC_PS);
  return file;
}

}  // namespace

std::shared_ptr<ChipTime> systemc_chip_time() { return std::make_shared<SystemcChipTime>(); }

ChipTotals simulate_chip(const ChipConfig& chip, const QueryShape& shape, const ChipWorkload& workload,
                         const QueryObserver& observer, const std::string& vcd_path) {
  if (workload.rows < 1 || workload.queries_per_row < 1 || shape.inputs < 1 || shape.outputs < 1) {
    throw config_error("chip", "a workload needs at least one row, query, input and output");
  }
  const ChipPlan plan = make_plan(chip, shape);
  Chip& modules = Chip::instance();
  TraceFile trace;
  if (!vcd_path.empty()) {
    trace = open_vcd(vcd_path);
    modules.trace(trace.get());
  }
  return modules.serve(plan, workload, observer);
}

}  // namespace zbphw
