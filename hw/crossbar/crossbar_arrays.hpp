// The arrays that hold one matrix: tiles of cell pairs, and for each group of tiles that is read together the matrices
// of currents and of their noise at the loaded time.
//
// With significance slicing a weight is spread over several pairs, w = sum_k base^-k d_k: every pair but the last holds
// one digit of the base, the last one what remains. Slices are read separately and added on the digital side.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "hw/crossbar/crossbar_config.hpp"
#include "hw/crossbar/programmed_tile.hpp"

namespace zbphw {

// Tiles that share inputs and a slice: their currents are one matrix product.
struct ArrayGroup {
  std::int64_t first_input = 0;
  std::int64_t inputs = 0;
  float slice_weight = 1;   // base^-slice
  at::Tensor current_us;    // [inputs, outputs] fp32: current for each input
  at::Tensor variance_us2;  // [inputs, outputs] fp32: variance of the current for each squared input
};

class CrossbarArrays {
 public:
  // Throws a config Error for a matrix without inputs or outputs, or a cell that does not exist.
  CrossbarArrays(const CrossbarConfig& config, std::int64_t inputs, std::int64_t outputs, std::uint64_t seed);

  // `weights` [outputs, inputs]; with `exact` every device holds its target. Loads the state at first_time_s().
  // Throws what map_weights and the cell throw.
  void program(const at::Tensor& weights, bool exact);
  bool programmed() const { return writes_ > 0; }

  // Loads the state at t_s. Throws a device Error when the cell model does not cover it.
  void load(double t_s, bool with_line_resistance);
  double loaded_s() const { return loaded_s_; }
  double first_time_s() const { return cell_->time_range().first_s; }

  const CellModel& cell() const { return *cell_; }
  const std::vector<ProgrammedTile>& tiles() const { return tiles_; }
  const std::vector<ArrayGroup>& groups() const { return groups_; }
  const ProgrammingReport& report() const { return report_; }
  std::int64_t clipped_weights() const { return clipped_; }
  // [outputs] fp32: weight units for each uS.
  const at::Tensor& weight_per_us() const { return weight_per_us_; }

 private:
  std::int64_t slices() const { return config_.mapping.slices; }

  CrossbarConfig config_;
  std::int64_t inputs_;
  std::int64_t outputs_;
  std::shared_ptr<const CellModel> cell_;
  std::vector<ProgrammedTile> tiles_;  // slice by slice
  std::vector<std::size_t> group_of_;  // of each tile
  std::vector<ArrayGroup> groups_;     // slice by slice
  at::Tensor weight_per_us_;
  ProgrammingReport report_;
  std::int64_t clipped_ = 0;
  std::uint32_t writes_ = 0;
  double loaded_s_ = 0;
};

}  // namespace zbphw
