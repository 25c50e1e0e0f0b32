#include "hw/crossbar/crossbar_arrays.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/config_path.hpp"
#include "base/error.hpp"
#include "base/random.hpp"
#include "device_models/cells/make_cell.hpp"

namespace zbphw {
namespace {

// The cell without the parts that are switched off.
RawConfig cell_with(const RawConfig& cell, const CrossbarEffects& effects) {
  RawConfig result;
  result.where = cell.where;
  result.value = expand_preset(cell.value, "devices/presets", result.where);
  if (!effects.device_to_device) result.value.erase("device_to_device");
  if (!effects.temperature) result.value.erase("temperature");
  return result;
}

}  // namespace

CrossbarArrays::CrossbarArrays(const CrossbarConfig& config, std::int64_t inputs, std::int64_t outputs,
                               std::uint64_t seed, const CrossbarEffects& effects)
    : config_(config), inputs_(inputs), outputs_(outputs), cell_(make_cell(cell_with(config.cell, effects))) {
  if (inputs < 1 || outputs < 1) {
    throw config_error("crossbar", "a matrix of " + std::to_string(inputs) + " inputs and " + std::to_string(outputs) +
                                       " outputs; at least one of each");
  }
  for (std::int64_t slice = 0; slice < slices(); ++slice) {
    for (TilePlace place : place_tiles(inputs, outputs, config_.tile_rows, config_.tile_columns)) {
      if (place.first_output == 0) {
        ArrayGroup group;
        group.first_input = place.first_input;
        group.inputs = place.inputs;
        group.slice_weight = static_cast<float>(std::pow(config_.mapping.slice_base, -static_cast<double>(slice)));
        group.current_us = at::zeros({place.inputs, outputs}, at::kFloat);
        group.variance_us2 = at::zeros({place.inputs, outputs}, at::kFloat);
        groups_.push_back(group);
      }
      place.number = static_cast<std::uint32_t>(tiles_.size());
      tiles_.emplace_back(cell_, place, seed);
      group_of_.push_back(groups_.size() - 1);
    }
  }
  solvers_.resize(tiles_.size());
  draw_columns(seed);
  loaded_s_ = first_time_s();
}

void CrossbarArrays::draw_columns(std::uint64_t seed) {
  const ColumnMismatchConfig& mismatch = config_.column_mismatch;
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    const RandomAt random(seed, stream_id("crossbar column mismatch"), 0, 0, static_cast<std::uint32_t>(g));
    std::vector<float> gain, offset;
    for (std::int64_t o = 0; o < outputs_; ++o) {
      const PhiloxCounter words = random.words(static_cast<std::uint32_t>(o));
      const NormalPair z = normal_pair(words[0], words[1]);
      gain.push_back(static_cast<float>(1 + mismatch.gain_spread * z.first));
      offset.push_back(static_cast<float>(mismatch.offset_spread_fraction * z.second));
    }
    groups_[g].column_gain = at::tensor(gain, at::kFloat);
    groups_[g].column_offset_fraction = at::tensor(offset, at::kFloat);
  }
}

void CrossbarArrays::program(const at::Tensor& weights, bool exact) {
  if (weights.dim() != 2 || weights.size(0) != outputs_ || weights.size(1) != inputs_) {
    std::ostringstream shapes;
    shapes << "weights of shape " << weights.sizes() << "; expected [" << outputs_ << ", " << inputs_ << "]";
    throw config_error("crossbar", shapes.str());
  }
  const ConductanceTargets whole = map_weights(config_.mapping, weights, cell_->g_min_us(), cell_->g_max_us());
  const std::vector<ConductanceTargets> targets =
      slice_targets(config_.mapping, whole, cell_->g_min_us(), cell_->g_max_us());
  const std::size_t tiles_per_slice = tiles_.size() / targets.size();
  report_ = {};
  for (std::size_t n = 0; n < tiles_.size(); ++n) {
    report_ += tiles_[n].program(targets[n / tiles_per_slice], config_.write_verify, writes_, exact);
  }
  ++writes_;
  clipped_ = whole.clipped;
  const ProgrammingCostConfig& cost = config_.programming;
  const std::int64_t turns = (report_.writes + cost.parallel_writes - 1) / cost.parallel_writes;
  report_.time_s = static_cast<double>(turns) * cost.write_ns * 1e-9;
  report_.energy_j = static_cast<double>(report_.writes) * cost.energy_pj_per_write * 1e-12;
  weight_per_us_ = at::tensor(whole.weight_per_us, at::kDouble).to(at::kFloat);
}

void CrossbarArrays::load(double t_s, const CrossbarEffects& effects) {
  for (std::size_t n = 0; n < tiles_.size(); ++n) load_tile(n, t_s, effects);
  for (ArrayGroup& group : groups_) {
    if (!effects.column_mismatch || config_.column_mismatch.gain_spread == 0) continue;
    group.current_us.mul_(group.column_gain);
    group.variance_us2.mul_(group.column_gain.square());
  }
  loaded_s_ = t_s;
  loaded_effects_ = effects;
}

void CrossbarArrays::load_tile(std::size_t n, double t_s, const CrossbarEffects& effects) {
  const ProgrammedTile& tile = tiles_[n];
  const TilePlace& place = tile.place();
  const CellPairs conductance = tile.conductance_us(t_s);
  const CellPairs deviation = tile.read_deviation_us(conductance, t_s);
  const bool resistive = config_.lines && effects.line_resistance;
  const bool query_by_query = resistive && config_.lines->solver == LineSolver::fast;
  solvers_[n].reset();
  if (query_by_query) solvers_[n].emplace(side_by_side_siemens(place, conductance), config_.lines->resistance);
  const std::vector<double> current = resistive && !query_by_query
                                          ? effective_us(place, conductance, config_.lines->resistance)
                                          : effective_us(place, conductance, std::nullopt);
  const ArrayGroup& group = groups_[group_of_[n]];
  float* current_out = group.current_us.data_ptr<float>();
  float* variance_out = group.variance_us2.data_ptr<float>();
  for (std::int64_t i = 0; i < place.inputs; ++i) {
    for (std::int64_t o = 0; o < place.outputs; ++o) {
      const std::int64_t from = i * place.outputs + o;
      const std::int64_t to = i * outputs_ + place.first_output + o;
      current_out[to] = static_cast<float>(current[from]);
      variance_out[to] = static_cast<float>(deviation.plus[from] * deviation.plus[from] +
                                            deviation.minus[from] * deviation.minus[from]);
    }
  }
}

at::Tensor CrossbarArrays::currents_us(std::size_t group, const at::Tensor& inputs) {
  if (!solved_query_by_query()) return at::mm(inputs, groups_[group].current_us);
  // [inputs, rows], as volts
  const at::Tensor driven = inputs.t().to(at::kDouble).contiguous();
  const Eigen::Map<const RowMajorMatrix> volts(driven.data_ptr<double>(), driven.size(0), driven.size(1));
  at::Tensor currents = at::empty({inputs.size(0), outputs_}, at::kFloat);
  for (std::size_t n = 0; n < tiles_.size(); ++n) {
    if (group_of_[n] != group) continue;
    const TilePlace& place = tiles_[n].place();
    const FastResult solved = solvers_[n]->solve(volts, config_.lines->fast_options());
    for (const double residual : solved.residual) largest_residual_ = std::max(largest_residual_, residual);
    for (std::int64_t r = 0; r < inputs.size(0); ++r) {
      float* row = currents.data_ptr<float>() + r * outputs_ + place.first_output;
      for (std::int64_t o = 0; o < place.outputs; ++o) {
        const double amperes = solved.output_current_a(2 * o, r) - solved.output_current_a(2 * o + 1, r);
        row[o] = static_cast<float>(amperes * 1e6);
      }
    }
  }
  return loaded_effects_.column_mismatch ? currents.mul_(groups_[group].column_gain) : currents;
}

at::Tensor CrossbarArrays::squared_column_norm() const {
  at::Tensor norm = at::zeros({outputs_}, at::kFloat);
  const std::size_t groups_per_slice = groups_.size() / static_cast<std::size_t>(slices());
  for (std::size_t g = 0; g < groups_per_slice; ++g) {
    at::Tensor current = at::zeros_like(groups_[g].current_us);
    for (std::size_t k = g; k < groups_.size(); k += groups_per_slice) {
      current.add_(groups_[k].current_us, groups_[k].slice_weight);
    }
    norm += current.square_().sum(0);
  }
  return norm;
}

}  // namespace zbphw
