// A programmed crossbar as a physical block: y = W x, through converters, drifting cells and noise.
//
//   x -> DAC -> column currents of each row of tiles -> + read noise -> ADC -> sum over rows of tiles -> y
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
#include "hw/crossbar/crossbar_config.hpp"
#include "hw/crossbar/programmed_tile.hpp"
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
  // Switches effects for the queries that follow. `programming` is the exception: it takes effect at the next
  // program().
  void set_effects(const CrossbarEffects& effects);

  double first_time_s() const { return cell_->time_range().first_s; }

  const CellModel& cell() const { return *cell_; }
  const std::vector<ProgrammedTile>& tiles() const { return tiles_; }
  const ProgrammingReport& programming() const { return programming_; }
  std::int64_t clipped_weights() const { return targets_.clipped; }

  // Conversions beyond the range of each converter so far: [rows of tiles, outputs / columns_per_adc rounded up].
  const std::vector<std::vector<std::int64_t>>& saturated_by_adc() const { return saturated_by_adc_; }

  // What one query is for the chip.
  QueryShape query_shape() const;

 private:
  // The tiles that share a range of inputs: their currents are one matrix product.
  struct TileRow {
    std::int64_t first_input = 0;
    std::int64_t inputs = 0;
    at::Tensor current_us;       // [inputs, outputs] fp32: current for each input
    at::Tensor variance_us2;     // [inputs, outputs] fp32: variance of the current for each squared input
    double adc_full_scale = 0;   // of a fixed or calibrated range, uS times the DAC's range
    std::uint64_t noise_stream;  // of its reads
  };
  // One query row's ADC with its noise.
  struct RowRead {
    Quantiser adc;
    float base_variance = 0;
  };

  at::Tensor checked(const at::Tensor& tensor, const char* what) const;
  double dac_top(const float* point, double margin) const;
  Quantiser dac_at(double top) const;
  // A state at t_s; `compensate` the digital drift scale with it.
  void load_state(double t_s);
  void refresh_state(double t_s);
  double calibration_signal() const;
  at::Tensor converted(const at::Tensor& inputs, const std::vector<double>& tops, std::int64_t* saturated) const;
  std::vector<double> dac_tops(const at::Tensor& points, double margin) const;
  RowRead row_read(const TileRow& tiles, double top, const float* currents) const;
  std::int64_t read_tile_row(std::size_t which, const QuerySlot& slot, const std::vector<double>& tops,
                             const at::Tensor& variance, at::Tensor& currents);
  void count_saturated(std::size_t tile_row, const std::vector<std::int64_t>& by_output);
  void book(std::int64_t rows, std::int64_t saturated_inputs, std::int64_t saturated_outputs);

  BlockSpec spec_;
  CrossbarConfig config_;
  CrossbarEffects effects_;
  std::uint64_t seed_;
  std::shared_ptr<const CellModel> cell_;
  std::vector<ProgrammedTile> tiles_;
  std::vector<TileRow> tile_rows_;
  ConductanceTargets targets_;
  ProgrammingReport programming_;
  std::uint32_t writes_ = 0;
  at::Tensor calibration_inputs_;  // [calibration_queries, inputs]
  at::Tensor output_scale_;        // [outputs] fp32: weight units for each uS
  double calibrated_dac_top_ = 1;  // of a calibrated DAC range
  double reference_signal_ = 0;    // the calibration run's signal right after programming
  double drift_scale_ = 1;         // digital compensation
  double state_s_ = 0;             // time of the state that is loaded
  double latency_s_ = 0;
  double clock_s_ = 0;
  Meter meter_;
  std::vector<std::vector<std::int64_t>> saturated_by_adc_;
};

}  // namespace zbphw
