// A physical block whose answer is a state: inputs are clamped, the network relaxes, the settled state is read.
//
// A query is a free phase. settle() also takes a push, the force of a nudged phase. Rows settle by themselves; the
// chip waits for the slowest of a batch, and that time and its energy are what is booked for every row.
#pragma once

#include <memory>
#include <vector>

#include "hw/block_registry.hpp"
#include "hw/chip/chip_time.hpp"
#include "hw/equilibrium/equilibrium_config.hpp"
#include "hw/equilibrium/relaxation.hpp"
#include "hw/physical_block.hpp"

namespace zbphw {

struct SettleRequest {
  at::Tensor inputs;  // x [rows, width], clamped
  at::Tensor start;   // [rows, width]: the state that the phase starts from; undefined: the inputs
  at::Tensor push;    // [rows, width]: added to the force; undefined: a free phase
  QuerySlot slot;
  at::Tensor range_point;  // as in QueryBatch: both ranges follow from it; undefined: the inputs
  double range_margin = 0;
};

struct SettleReadout {
  at::Tensor values;    // [rows, width] what the ADC gave, averaged over reads
  at::Tensor applied;   // [rows, width] the clamped inputs as the DAC produced them
  at::Tensor state;     // [rows, width] the state itself, which hardware keeps and only a simulator shows
  at::Tensor steps;     // [rows] int64, of the relaxation
  at::Tensor residual;  // [rows] float64
  at::Tensor settled;   // [rows] bool
  std::vector<std::int64_t> saturated_inputs;   // [rows]
  std::vector<std::int64_t> saturated_outputs;  // [rows]
};

class EquilibriumBlock : public PhysicalBlock {
 public:
  EquilibriumBlock(const EquilibriumConfig& config, const BlockRequest& request);

  // Throws a numerical Error when an input is not finite, and a config Error for a wrong shape. A row that does not
  // settle within relaxation.most_steps is no error here: `settled` says so.
  SettleReadout settle(const SettleRequest& request);

  // A free phase. Throws a numerical Error that names the first row that did not settle.
  Readout query(const QueryBatch& batch) override;

  const BlockSpec& spec() const override { return spec_; }
  const Dynamics& dynamics() const { return dynamics_; }
  at::Tensor dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const override;
  at::Tensor readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) override;
  double clock_s() const override { return time_->now_s(); }
  const Meter& meter() const override { return meter_; }
  void resume_at(double clock_s, const Meter& meter) override {
    time_->resume_at(clock_s);
    meter_ = meter;
  }

 private:
  SettleReadout settle_exactly(const SettleRequest& request);

  struct Ranges {  // of one row
    Quantiser dac;
    float full_scale = 0;  // top of the ADC's range
  };
  Ranges ranges_of(const float* row, double margin) const;
  // Sets `applied` and `saturated_inputs`.
  void drive(const at::Tensor& inputs, const std::vector<Ranges>& ranges, SettleReadout& readout) const;
  Relaxed relax_rows(const SettleRequest& request, const at::Tensor& applied, const std::vector<Ranges>& ranges) const;
  // The read chain of a row at a time, and when a row is read.
  ReadChain chain_at(const Ranges& range, double since_calibration_s) const;
  double since_calibration_s(const QuerySlot& slot, std::int64_t r, double latency_s) const;
  // Sets `values` and `saturated_outputs` from the state.
  void read(const QuerySlot& slot, const std::vector<Ranges>& ranges, double latency_s, SettleReadout& readout) const;
  QueryShape shape() const;
  void book(double time_constants, const SettleReadout& readout);
  at::Tensor checked(const at::Tensor& tensor, std::int64_t rows, const char* what) const;

  BlockSpec spec_;
  EquilibriumConfig config_;
  bool ideal_;
  std::uint64_t seed_;
  int dac_bits_;
  int adc_bits_;
  BenchDynamics dynamics_;
  at::Tensor rates_;         // [width], or undefined without spread
  std::vector<float> ramp_;  // offset ramp of each output, padded; empty without drift
  std::shared_ptr<ChipTime> time_;
  Meter meter_;
};

}  // namespace zbphw
