// Two devices on the bench, side by side.
#pragma once

#include <string>
#include <vector>

#include "base/json.hpp"

namespace zbphw {

// A table of what simulation_json() gives for each device, one column a device. What only one has shows "-" for others.
std::string comparison_text(const std::vector<Json>& results);

}  // namespace zbphw
