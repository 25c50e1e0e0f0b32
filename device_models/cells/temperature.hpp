// A chip that is read at another temperature than the one at which it was programmed, over any cell model: the key
// "temperature" of a cell.
//
//   G = G_cell (1 + coefficient (T - T_reference))
//
// To first order, as data sheets give it. It concerns reads at any time, the first included; programming and its
// verification happen at the reference temperature.
#pragma once

#include <memory>

#include "base/fields.hpp"
#include "device_models/cells/cell_model.hpp"

namespace zbphw {

struct TemperatureConfig {
  double temperature_k = 0;
  double reference_k = 0;
  double coefficient_per_k = 0;
};

void describe(Fields& f, TemperatureConfig& c);

// `cell` as it is read at this temperature.
std::unique_ptr<CellModel> read_at_temperature(std::unique_ptr<CellModel> cell, const TemperatureConfig& config);

}  // namespace zbphw
