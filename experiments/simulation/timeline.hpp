// The pipeline of the first queries as a picture: which unit works on which query, and when.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "hw/chip/chip_config.hpp"
#include "hw/chip/chip_simulation.hpp"

namespace zbphw {

// An SVG document. `served` in the order of queries; of them the first `most_queries` are drawn. A query passes the
// stages of `timing` without waiting, so its stages follow from when it was sent.
std::string timeline_svg(const std::string& title, const QueryTiming& timing, const std::vector<ServedQuery>& served,
                         std::size_t most_queries);

// The save file that shows the signals of simulate_chip()'s VCD in GTKWave, grouped. `vcd_path` as it was written.
std::string gtkwave_save_file(const std::string& vcd_path);

}  // namespace zbphw
