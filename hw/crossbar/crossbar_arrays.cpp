#include "hw/crossbar/crossbar_arrays.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "device_models/cells/make_cell.hpp"

namespace zbphw {

CrossbarArrays::CrossbarArrays(const CrossbarConfig& config, std::int64_t inputs, std::int64_t outputs,
                               std::uint64_t seed)
    : config_(config), inputs_(inputs), outputs_(outputs), cell_(make_cell(config.cell)) {
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
  loaded_s_ = first_time_s();
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

void CrossbarArrays::load(double t_s, bool with_line_resistance) {
  const std::optional<LineResistance> lines = with_line_resistance ? config_.lines : std::nullopt;
  for (std::size_t n = 0; n < tiles_.size(); ++n) {
    const ProgrammedTile& tile = tiles_[n];
    const TilePlace& place = tile.place();
    const CellPairs conductance = tile.conductance_us(t_s);
    const CellPairs deviation = tile.read_deviation_us(conductance, t_s);
    const std::vector<double> current = effective_us(place, conductance, lines);
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
  loaded_s_ = t_s;
}

}  // namespace zbphw
