// A programmed crossbar as a physical block: y = W x, through converters, drifting cells and noise.
//
//   x -> DAC -> column currents of each group of tiles -> + read noise -> ADC -> sum over groups -> y
//
// The DAC's noise is on what drives the arrays; a column's gain and offset, the noise of the output and that of the
// ADC's decisions are in front of its ADC.
//
// A group is the tiles that share inputs, once for each significance slice of the weights; bit-serial inputs are read
// once for each slice of the code.
//
// Fresh Gaussian read noise of the cells is added at the output: a column's noise is sqrt(sum_j s_j^2 x_j^2) z, which
// has exactly the distribution of one draw for each cell and costs one extra matrix product (s^2 and x^2). With
// resistive lines that product takes the cells as if the lines were ideal.
//
// Times: clock_s() counts from programming and starts at the first time that the cell model covers. Queries see the
// state of the moment, renewed when it is older than state_refresh_s; age_to() moves the clock.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/block_config.hpp"
#include "hw/crossbar/crossbar_arrays.hpp"
#include "hw/crossbar/crossbar_config.hpp"
#include "hw/crossbar/input_slices.hpp"
#include "hw/kernels/row_kernels.hpp"
#include "hw/physical_block.hpp"

namespace zbphw {

struct CrossbarRequest {
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  CrossbarEffects effects;  // CrossbarEffects::none(): the exact product
  std::uint64_t seed = 1;
};

class CrossbarLinear final : public PhysicalBlock {
 public:
  // Throws a config Error.
  CrossbarLinear(const CrossbarConfig& config, const CrossbarRequest& request);

  const BlockSpec& spec() const override { return spec_; }
  // [outputs, inputs]. Resets the clock, calibrates the converters with normal inputs. Throws what map_weights throws.
  void program(const at::Tensor& weights) override;
  Readout query(const QueryBatch& batch) override;
  at::Tensor dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const override;
  at::Tensor readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) override;
  double clock_s() const override { return clock_s_; }
  const Meter& meter() const override { return meter_; }
  void resume_at(double clock_s, const Meter& meter) override {
    clock_s_ = clock_s;
    meter_ = meter;
  }

  // Sets calibrated ranges from these inputs [rows, inputs] and the state right after programming.
  void calibrate(const at::Tensor& inputs);

  // Moves the clock to t_s after programming; not before first_time_s(). Throws a device Error when the cell model does
  // not cover t_s.
  void age_to(double t_s);
  // Switches effects for the queries that follow, and renews the calibration when they change what columns give.
  // Exceptions: `programming` takes effect at the next program(); `device_to_device` and `temperature` are what the
  // block was made with.
  void set_effects(const CrossbarEffects& effects);

  double first_time_s() const { return arrays_.first_time_s(); }

  const CrossbarArrays& arrays() const { return arrays_; }

  // Conversions beyond the range of each converter so far: [groups, outputs / columns_per_adc rounded up].
  const std::vector<std::vector<std::int64_t>>& saturated_by_adc() const { return saturated_by_adc_; }

  // Conversions beyond the range of both converters in each row of the last query().
  const std::vector<std::int64_t>& saturated_inputs_by_row() const { return saturated_inputs_by_row_; }
  const std::vector<std::int64_t>& saturated_outputs_by_row() const { return saturated_outputs_by_row_; }

  // What one query is for the chip.
  QueryShape query_shape() const;

 private:
  // One query row's ADC with its noise.
  struct RowRead {
    Quantiser adc;
    float base_variance = 0;
    double full_scale = 0;
  };
  // What a batch drives the arrays with.
  struct Drive {
    std::vector<double> tops;  // [rows], top of each row's DAC range
    at::Tensor applied;        // [rows, inputs], as the DAC gives them
    InputSlices slices;
    std::vector<std::int64_t> saturated;  // [rows]
  };

  // Rows at the port with their largest magnitudes.
  struct PortRows {
    at::Tensor values;  // [rows, inputs] fp32
    std::vector<float> largest;
  };
  PortRows checked(const at::Tensor& tensor, const char* what) const;
  double dac_top(double largest, double margin) const;
  Quantiser dac_at(double top) const;
  // `points` are what ranges are taken from.
  Drive drive(const at::Tensor& inputs, const PortRows& points, double margin, const QuerySlot& slot) const;
  void add_input_noise(const QuerySlot& slot, Drive& driven) const;
  void load_state(double t_s);
  void set_drift_scale(double scale);
  void renew_state(double t_s, double tolerance_s);
  double calibration_signal();
  RowRead row_read(std::size_t group, double top, const float* currents) const;
  // Reads a group's currents [rows, outputs] in place and counts saturated conversions.
  void read_group(std::size_t group, std::size_t input_slice, const QuerySlot& slot, const std::vector<double>& tops,
                  const at::Tensor& variance, at::Tensor& currents);
  void book(std::int64_t rows);

  BlockSpec spec_;
  CrossbarConfig config_;
  CrossbarEffects effects_;
  std::uint64_t seed_;
  CrossbarArrays arrays_;
  PortRows calibration_inputs_;         // [calibration_queries, inputs]
  std::vector<double> adc_full_scale_;  // of each group, uS times the DAC's range
  double calibrated_dac_top_ = 1;       // of a calibrated DAC range
  double reference_signal_ = 0;         // the calibration run's signal right after programming
  at::Tensor output_scale_;             // [outputs], weight units for each uS, with the digital drift compensation
  bool state_is_stale_ = false;         // effects were switched since it was loaded
  bool calibration_is_stale_ = false;   // currents of columns were switched since the calibration run
  double latency_s_ = 0;
  double clock_s_ = 0;
  Meter meter_;
  std::vector<std::vector<std::int64_t>> saturated_by_adc_;
  std::vector<std::int64_t> saturated_inputs_by_row_;
  std::vector<std::int64_t> saturated_outputs_by_row_;
};

}  // namespace zbphw
