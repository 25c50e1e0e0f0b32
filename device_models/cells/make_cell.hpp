// Cells from configuration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/fields.hpp"
#include "device_models/cells/cell_model.hpp"

namespace zbphw {

// From {"preset": "pcm_joshi_2020", ...keys that override it...} or {"model": "pcm_joshi", ...all keys...}.
// Presets are the files devices/presets/<name>.json (base/config_path.hpp). Throws a config Error.
std::unique_ptr<CellModel> make_cell(const RawConfig& config);

// The registered models, and the keys of one.
std::vector<std::string> cell_model_names();
std::vector<FieldRow> explain_cell_model(const std::string& name);

}  // namespace zbphw
