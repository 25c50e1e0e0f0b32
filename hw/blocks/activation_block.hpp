// The common part of simulated activation blocks: DAC -> transfer function -> drift, noise -> ADC, row by row.
//
// A concrete block says what its core computes on one row; ranges, converters, noise, drift, clock and meter are here.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "hw/block_config.hpp"
#include "hw/block_registry.hpp"
#include "hw/chip/chip_time.hpp"
#include "hw/kernels/row_kernels.hpp"
#include "hw/physical_block.hpp"

namespace zbphw {

class ActivationBlock : public PhysicalBlock {
 public:
  // `config` as the device file has it; with request.fidelity ideal its effects are switched off here.
  ActivationBlock(BlockSpec spec, const ActivationBlockConfig& config, const BlockRequest& request);

  const BlockSpec& spec() const override { return spec_; }
  Readout query(const QueryBatch& batch) override;
  at::Tensor dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const override;
  at::Tensor readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) override;
  double clock_s() const override { return time_->now_s(); }
  const Meter& meter() const override { return meter_; }
  void resume_at(double clock_s, const Meter& meter) override {
    time_->resume_at(clock_s);
    meter_ = meter;
  }

 protected:
  // The core: `in` has the row's driven inputs, `out` takes the outputs; both have room to whole lanes, of any content.
  // `shift` is near the largest input: what a core that exponentiates may subtract first.
  virtual void transfer(std::int64_t inputs, float shift, const float* in, float* out) const = 0;
  // The same in fp64 and plain loops: what an ideal block answers to fp64 inputs, and the reference of the fp32
  // kernels.
  virtual void transfer_exact(std::int64_t inputs, const double* in, double* out) const = 0;

  // A row is named by its number in the run (slot.first_row + its place in the batch) throughout.
  // The largest magnitude that an output reaches when each input of `in` may move by `margin`: what an ADC range that
  // is held through a probe sequence has to cover. `in` may be overwritten; `spare` is a padded row.
  virtual float output_reach(std::int64_t inputs, std::int64_t outputs, float shift, float margin, float* in,
                             float* spare) const = 0;

  // Inputs and outputs that a row drives and reads.
  std::int64_t driven_inputs(std::int64_t row) const;
  std::int64_t read_outputs(std::int64_t row) const;

  // Everything about one row that does not depend on which of its queries is made.
  struct RowRange {
    Quantiser dac;
    float shift = 0;
    float full_scale = 0;  // top of the ADC's range
  };
  // `buffers` as in make_buffers. Throws a numerical Error when the row is not finite.
  RowRange range_of(const float* point, std::int64_t row, double range_margin, std::vector<float>& buffers) const;
  std::vector<float> make_buffers() const;

  // The read chain of a row at this range, and its drift at a time since calibration.
  ReadChain chain_at(const RowRange& range, double since_calibration_s) const;
  double since_calibration_s(const QuerySlot& slot, double start_s, std::int64_t row) const;
  // What ReadChain::ramp is multiplied by: at a row's first query, and from one query to the next.
  float start_drift(const RowRange& range, double since_s) const {
    return range.full_scale * static_cast<float>(since_s);
  }
  float drift_step(const RowRange& range) const { return range.full_scale * static_cast<float>(latency_s_); }
  DrawAddress noise_address(const QuerySlot& slot, std::int64_t row) const;
  double sequence_start_s(const QuerySlot& slot) const { return slot.start_s < 0 ? clock_s() : slot.start_s; }

  // Books rows * queries_per_row queries and advances the clock.
  void book(std::int64_t first_row, std::int64_t rows, std::int64_t queries_per_row, std::int64_t saturated_inputs,
            std::int64_t saturated_outputs);

  // `inputs` as contiguous fp32 [rows, input_width]. Throws a config Error naming both shapes.
  at::Tensor checked(const at::Tensor& tensor, std::int64_t width, const char* what) const;
  // Throws a config Error when two tensors of one request have different numbers of rows, or when there are more
  // queries than the 32 bits of a noise address can tell apart.
  void check_request(const QuerySlot& slot, const at::Tensor& rows, const at::Tensor& as_many, const char* what) const;

 private:
  Readout query_exact(const QueryBatch& batch);

  // One number for each row of [rows, input_width], in parallel; [rows].
  at::Tensor for_each_row(
      const at::Tensor& range_point,
      const std::function<float(const float* point, std::int64_t row, std::vector<float>& buffers)>& value_of) const;

  struct Saturation {
    std::int64_t inputs = 0;
    std::int64_t outputs = 0;
  };
  Saturation query_row(const QueryBatch& batch, std::int64_t row, double start_s, const float* input,
                       const float* range_point, float* applied, float* value, std::vector<float>& buffers) const;

  BlockSpec spec_;
  ActivationBlockConfig config_;
  bool ideal_;
  std::uint64_t seed_;
  int dac_bits_;  // of the codes on the link, in an ideal simulation too: it is the same chip
  int adc_bits_;
  std::vector<float> ramp_;  // offset ramp of each output, padded; empty without drift
  double latency_s_ = 0;
  std::shared_ptr<ChipTime> time_;
  Meter meter_;
};

}  // namespace zbphw
