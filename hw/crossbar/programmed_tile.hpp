// One array of the crossbar: a pair of cells for each weight, programmed once, asked for its state at any later time.
//
// Physically the two columns of an output lie side by side: column 2c holds G+, column 2c + 1 holds G- of output c.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "device_models/cells/cell_model.hpp"
#include "hw/crossbar/crossbar_config.hpp"
#include "hw/crossbar/weight_mapping.hpp"

namespace zbphw {

// Which part of the matrix a tile holds.
struct TilePlace {
  std::uint32_t number = 0;
  std::int64_t first_input = 0;
  std::int64_t inputs = 0;
  std::int64_t first_output = 0;
  std::int64_t outputs = 0;
};

// The tiles of a matrix, edge tiles cut to size; row of tiles by row of tiles.
std::vector<TilePlace> place_tiles(std::int64_t inputs, std::int64_t outputs, std::int64_t tile_rows,
                                   std::int64_t tile_columns);

struct ProgrammingReport {
  std::int64_t devices = 0;
  std::int64_t writes = 0;    // of all devices together
  std::int64_t rejected = 0;  // devices outside the acceptance window after their last write
  double time_s = 0;
  double energy_j = 0;

  ProgrammingReport& operator+=(const ProgrammingReport& other);
};

// Both cells of every weight, [inputs, outputs] each.
struct CellPairs {
  std::vector<double> plus;
  std::vector<double> minus;
};

class ProgrammedTile {
 public:
  ProgrammedTile(std::shared_ptr<const CellModel> cell, const TilePlace& place, std::uint64_t seed)
      : cell_(std::move(cell)), place_(place), seed_(seed) {}

  // Takes this tile's part of the targets. `write` counts how often the matrix was written before. With `exact` every
  // device holds its target. The report has no time or energy: those are the chip's.
  ProgrammingReport program(const ConductanceTargets& targets, const WriteVerifyConfig& config, std::uint32_t write,
                            bool exact);

  const TilePlace& place() const { return place_; }
  const CellPairs& target_us() const { return target_us_; }
  const CellPairs& programmed_us() const { return programmed_us_; }

  // What the cells hold t_s after programming, and the standard deviation of one read of each. Throws a device Error
  // when the cell model does not cover t_s.
  CellPairs conductance_us(double t_s) const;
  CellPairs read_deviation_us(const CellPairs& conductance_us, double t_s) const;

  // Of the cells with this polarity (0: G+, 1: G-), [inputs, outputs].
  std::vector<DeviceFault> faults(int polarity) const;

 private:
  DeviceRange devices(int polarity, std::uint32_t write) const;

  std::shared_ptr<const CellModel> cell_;
  TilePlace place_;
  std::uint64_t seed_;
  std::uint32_t write_ = 0;
  CellPairs target_us_;
  CellPairs programmed_us_;
};

// The array as it lies on the chip, [inputs, 2 outputs].
RowMajorMatrix side_by_side_siemens(const TilePlace& place, const CellPairs& conductance_us);

// What a column's current is for each input, as a matrix [inputs, outputs] of uS: G+ - G-, or with resistive lines the
// difference of the transfer matrix's two columns. Throws what the nodal solver throws.
std::vector<double> effective_us(const TilePlace& place, const CellPairs& conductance_us,
                                 const std::optional<LineResistance>& lines);

}  // namespace zbphw
