// Program-and-verify above a cell: write, read back, write again until the conductance is close enough.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/fields.hpp"
#include "device_models/cells/cell_model.hpp"

namespace zbphw {

struct WriteVerifyConfig {
  std::int64_t max_iterations = 1;
  double acceptance_us = 0;
  double correction = 0;
};

void describe(Fields& f, WriteVerifyConfig& c);

struct WriteVerifyResult {
  std::vector<std::uint32_t> iterations;  // writes of each device, for the time and energy of programming
  std::size_t rejected = 0;               // devices that were still outside the window after the last write
};

// target_us[count] -> programmed_us[count]: each device is written until |G - target| <= acceptance_us, at most
// max_iterations times; it keeps the last write, accepted or not. Every try has fresh programming noise. After a try
// the next request moves by correction (target - G) inside the cell's range: 0 asks for the same again (best when the
// error is fresh noise), 1 corrects what differs from device to device. The read-back is taken as exact.
//
// Published fits of rram_wan, rram_cmo and sonos already hold their chip's own program-and-verify.
WriteVerifyResult write_verify(const CellModel& cell, const WriteVerifyConfig& config, const double* target_us,
                               const DeviceRange& devices, double* programmed_us);

}  // namespace zbphw
