#include "hw/crossbar/programmed_tile.hpp"

#include <algorithm>

#include "device_models/line_resistance/nodal_solver.hpp"

namespace zbphw {
namespace {

constexpr double siemens_per_us = 1e-6;

}  // namespace

std::vector<TilePlace> place_tiles(std::int64_t inputs, std::int64_t outputs, std::int64_t tile_rows,
                                   std::int64_t tile_columns) {
  std::vector<TilePlace> places;
  for (std::int64_t i = 0; i < inputs; i += tile_rows) {
    for (std::int64_t o = 0; o < outputs; o += tile_columns) {
      places.push_back({static_cast<std::uint32_t>(places.size()), i, std::min(tile_rows, inputs - i), o,
                        std::min(tile_columns, outputs - o)});
    }
  }
  return places;
}

ProgrammingReport& ProgrammingReport::operator+=(const ProgrammingReport& other) {
  devices += other.devices;
  writes += other.writes;
  rejected += other.rejected;
  time_s += other.time_s;
  energy_j += other.energy_j;
  return *this;
}

DeviceRange ProgrammedTile::devices(int polarity, std::uint32_t write) const {
  DeviceRange range;
  range.seed = seed_;
  range.array = 2 * place_.number + static_cast<std::uint32_t>(polarity);
  range.write = write;
  range.count = static_cast<std::size_t>(place_.inputs * place_.outputs);
  return range;
}

ProgrammingReport ProgrammedTile::program(const ConductanceTargets& targets, const WriteVerifyConfig& config,
                                          std::uint32_t write, bool exact) {
  write_ = write;
  target_us_ = {};
  for (std::int64_t i = 0; i < place_.inputs; ++i) {
    const std::int64_t first = (place_.first_input + i) * targets.outputs + place_.first_output;
    target_us_.plus.insert(target_us_.plus.end(), &targets.plus_us[first], &targets.plus_us[first] + place_.outputs);
    target_us_.minus.insert(target_us_.minus.end(), &targets.minus_us[first],
                            &targets.minus_us[first] + place_.outputs);
  }
  programmed_us_ = target_us_;
  ProgrammingReport report;
  report.devices = 2 * place_.inputs * place_.outputs;
  report.writes = exact ? report.devices : 0;
  if (exact) return report;
  for (const int polarity : {0, 1}) {
    const std::vector<double>& target = polarity == 0 ? target_us_.plus : target_us_.minus;
    std::vector<double>& programmed = polarity == 0 ? programmed_us_.plus : programmed_us_.minus;
    const WriteVerifyResult result =
        write_verify(*cell_, config, target.data(), devices(polarity, write), programmed.data());
    for (const std::uint32_t iterations : result.iterations) report.writes += iterations;
    // One blind write verifies nothing.
    if (config.max_iterations > 1) report.rejected += static_cast<std::int64_t>(result.rejected);
  }
  return report;
}

CellPairs ProgrammedTile::conductance_us(double t_s) const {
  CellPairs state = programmed_us_;
  cell_->relax(target_us_.plus.data(), programmed_us_.plus.data(), devices(0, write_), t_s, state.plus.data());
  cell_->relax(target_us_.minus.data(), programmed_us_.minus.data(), devices(1, write_), t_s, state.minus.data());
  return state;
}

CellPairs ProgrammedTile::read_deviation_us(const CellPairs& conductance_us, double t_s) const {
  CellPairs deviation = conductance_us;
  const std::size_t count = conductance_us.plus.size();
  cell_->read_noise(programmed_us_.plus.data(), conductance_us.plus.data(), count, t_s, deviation.plus.data());
  cell_->read_noise(programmed_us_.minus.data(), conductance_us.minus.data(), count, t_s, deviation.minus.data());
  return deviation;
}

std::vector<DeviceFault> ProgrammedTile::faults(int polarity) const {
  std::vector<DeviceFault> faults(static_cast<std::size_t>(place_.inputs * place_.outputs));
  cell_->faults(devices(polarity, write_), faults.data());
  return faults;
}

RowMajorMatrix side_by_side_siemens(const TilePlace& place, const CellPairs& conductance_us) {
  RowMajorMatrix array(place.inputs, 2 * place.outputs);
  for (std::int64_t i = 0; i < place.inputs; ++i) {
    for (std::int64_t o = 0; o < place.outputs; ++o) {
      array(i, 2 * o) = conductance_us.plus[i * place.outputs + o] * siemens_per_us;
      array(i, 2 * o + 1) = conductance_us.minus[i * place.outputs + o] * siemens_per_us;
    }
  }
  return array;
}

std::vector<double> effective_us(const TilePlace& place, const CellPairs& conductance_us,
                                 const std::optional<LineResistance>& lines) {
  std::vector<double> effective(conductance_us.plus.size());
  if (!lines) {
    for (std::size_t k = 0; k < effective.size(); ++k) effective[k] = conductance_us.plus[k] - conductance_us.minus[k];
    return effective;
  }
  const NodalFactorisation solved(side_by_side_siemens(place, conductance_us), *lines);
  const RowMajorMatrix& transfer = solved.ports().transfer_matrix();
  for (std::int64_t i = 0; i < place.inputs; ++i) {
    for (std::int64_t o = 0; o < place.outputs; ++o) {
      effective[i * place.outputs + o] = (transfer(2 * o, i) - transfer(2 * o + 1, i)) / siemens_per_us;
    }
  }
  return effective;
}

}  // namespace zbphw
