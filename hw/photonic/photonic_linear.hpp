// A matrix in light: y = W x through two meshes of interferometers.
//
//   x -> DAC -> modulators -> mesh V^T -> attenuators -> mesh U -> detectors -> ADC -> y,    W = g U diag(s) V^T
//
// U, s, V^T are the singular value decomposition of W, padded to a square; s is scaled to at most 1 and its scale g is
// digital, because a passive mesh cannot amplify (Miller, Photonics Research 1, 1, 2013). Detection is coherent: an
// output is the real part a of its mode's field. Two diodes carry it, one for each sign, so a reading has the noise of
// the current that |a| gives (device_models/photonic/photodetector.hpp), a = 1 being full scale.
//
// Every shifter of the chip stands in one chain, in the order of the light: V^T, attenuators, U. Crosstalk acts along
// it. Phase noise is drawn afresh for each query.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "device_models/photonic/mesh.hpp"
#include "hw/block_registry.hpp"
#include "hw/chip/chip_time.hpp"
#include "hw/photonic/photonic_config.hpp"
#include "hw/physical_block.hpp"

namespace zbphw {

class PhotonicLinear final : public PhysicalBlock {
 public:
  PhotonicLinear(const PhotonicConfig& config, const std::string& where, const BlockRequest& request);

  const BlockSpec& spec() const override { return spec_; }
  // [outputs, inputs]. Throws a data Error for weights that are not finite or all zero, a config Error for a wrong
  // shape. Sets calibrated ranges.
  void program(const at::Tensor& weights) override;
  // Throws a device Error before program().
  Readout query(const QueryBatch& batch) override;
  at::Tensor dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const override;
  at::Tensor readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) override;
  double clock_s() const override { return time_->now_s(); }
  const Meter& meter() const override { return meter_; }
  void resume_at(double clock_s, const Meter& meter) override {
    time_->resume_at(clock_s);
    meter_ = meter;
  }

  std::int64_t shifters() const { return static_cast<std::int64_t>(voltage_v_.size()); }
  // Shifters that V_max does not drive to their phase.
  std::int64_t unreached_shifters() const { return unreached_; }
  QueryShape shape() const;

 private:
  struct Attenuators {
    std::vector<double> theta_rad;
    std::vector<double> phi_rad;
  };
  // The wanted phases of all shifters in the order of the light, and back.
  std::vector<double> wanted_phases() const;
  void set_phases(const std::vector<double>& phase_rad, Mesh& first, Attenuators& attenuators, Mesh& second) const;
  // Amplitudes [modes] of one query's driven inputs [inputs].
  void send(const float* driven, const QuerySlot& slot, std::uint32_t query, float* amplitude) const;
  void add_detector_noise(const RandomAt& random, float* amplitude) const;
  struct RowAnswer {
    std::vector<float> applied;
    std::vector<float> values;
    std::int64_t saturated_inputs = 0;
    std::int64_t saturated_outputs = 0;
  };
  // Row r of the batch; `top` is the input that is driven as amplitude 1.
  RowAnswer answer_row(const QuerySlot& slot, std::int64_t r, const float* input, double top) const;
  double dac_top(const float* row, double margin) const;
  at::Tensor checked(const at::Tensor& tensor, const char* what) const;
  void calibrate();
  void book(std::int64_t rows, std::int64_t saturated_inputs, std::int64_t saturated_outputs);

  BlockSpec spec_;
  PhotonicConfig config_;
  PhaseShifterConfig shifter_config_;
  bool ideal_;
  std::uint64_t seed_;
  std::int64_t modes_;
  double weight_scale_ = 0;  // g; 0 before program()
  Mesh first_;
  Attenuators attenuators_;
  Mesh second_;
  std::vector<double> voltage_v_;
  std::vector<double> still_phase_rad_;  // of a query without phase noise
  std::int64_t unreached_ = 0;
  double full_scale_ = 1;  // top of the ADC's range
  at::Tensor weights_;     // [outputs, inputs] float64
  std::shared_ptr<ChipTime> time_;
  Meter meter_;
};

}  // namespace zbphw
