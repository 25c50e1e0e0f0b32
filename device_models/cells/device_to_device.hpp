// What differs from device to device for life, over any cell model: the key "device_to_device" of a cell.
//
//   G = G_cell exp(spread z - spread^2 / 2), one z for each device: a factor of mean 1 that is never negative.
//
// A device that is stuck holds g_min (off) or g_max (on) whatever is written. Positions come from the seed.
#pragma once

#include <memory>

#include "base/fields.hpp"
#include "device_models/cells/cell_model.hpp"

namespace zbphw {

struct DeviceToDeviceConfig {
  double spread = 0;
  double stuck_off_fraction = 0;
  double stuck_on_fraction = 0;
};

void describe(Fields& f, DeviceToDeviceConfig& c);

// `cell` with the given differences laid over what it holds at any time.
std::unique_ptr<CellModel> vary_devices(std::unique_ptr<CellModel> cell, const DeviceToDeviceConfig& config);

}  // namespace zbphw
