// The arrays that hold one matrix: tiles of cell pairs, and for each group of tiles that is read together the matrices
// of currents and of their noise at the loaded time.
//
// With significance slicing a weight is spread over several pairs, w = sum_k base^-k d_k: every pair but the last holds
// one digit of the base, the last one what remains. Slices are read separately and added on the digital side.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
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
  // What is particular to the column of each output, [outputs] fp32; the gain is in both matrices.
  at::Tensor column_gain;
  at::Tensor column_offset_fraction;  // of the ADC's full scale
};

class CrossbarArrays {
 public:
  // Without the effects device_to_device and temperature, the cells are made as if the device had none.
  // Throws a config Error for a matrix without inputs or outputs, or a cell that does not exist.
  CrossbarArrays(const CrossbarConfig& config, std::int64_t inputs, std::int64_t outputs, std::uint64_t seed,
                 const CrossbarEffects& effects);

  // `weights` [outputs, inputs]; with `exact` every device holds its target. Loads the state at first_time_s().
  // Throws what map_weights and the cell throw.
  void program(const at::Tensor& weights, bool exact);
  bool programmed() const { return writes_ > 0; }

  // Loads the state at t_s, with or without the effects line_resistance and column_mismatch. Throws a device Error when
  // the cell model does not cover the time.
  void load(double t_s, const CrossbarEffects& effects);

  // The currents [rows, outputs] of a group for its `inputs` [rows, group inputs], fp32. Throws a numerical Error when
  // the fast line solver does not converge.
  at::Tensor currents_us(std::size_t group, const at::Tensor& inputs);
  // [outputs] fp32, uS^2: the sum over inputs of the squared current of each, slices of weights added up; with a fast
  // line solver as if the lines were ideal.
  at::Tensor squared_column_norm() const;
  // Of all products of the fast line solver so far; 0 when it had none.
  double largest_residual() const { return largest_residual_; }

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
  bool solved_query_by_query() const {
    return config_.lines && config_.lines->solver == LineSolver::fast && loaded_effects_.line_resistance;
  }
  void draw_columns(std::uint64_t seed);
  void load_tile(std::size_t tile, double t_s, const CrossbarEffects& effects);

  CrossbarConfig config_;
  std::int64_t inputs_;
  std::int64_t outputs_;
  std::shared_ptr<const CellModel> cell_;
  std::vector<ProgrammedTile> tiles_;               // slice by slice
  std::vector<std::size_t> group_of_;               // of each tile
  std::vector<ArrayGroup> groups_;                  // slice by slice
  std::vector<std::optional<FastSolver>> solvers_;  // of each tile whose lines are solved query by query
  at::Tensor weight_per_us_;
  ProgrammingReport report_;
  std::int64_t clipped_ = 0;
  std::uint32_t writes_ = 0;
  double loaded_s_ = 0;
  CrossbarEffects loaded_effects_;
  double largest_residual_ = 0;
};

}  // namespace zbphw
