#include "device_models/cells/make_cell.hpp"

#include "base/registry.hpp"
#include "device_models/cells/cell_registry.hpp"
#include "device_models/registered_model.hpp"

namespace zbphw {

void describe_common(Fields& f, CellCommon& c) {
  f.required().text("model", c.model, "the cell model's name");
  f.text("source", c.source, "where the constants come from");
  f.optional_object("device_to_device", c.device_to_device, "differences from device to device, and stuck devices");
  f.optional_object("temperature", c.temperature, "dependence on the chip's temperature");
}

std::unique_ptr<CellModel> make_cell(const RawConfig& config) {
  return make_registered_model<CellKind>(config, "cell model");
}

std::vector<std::string> cell_model_names() { return Registry<CellKind>::instance().names(); }

std::vector<FieldRow> explain_cell_model(const std::string& name) {
  return Registry<CellKind>::instance().at(name, "cell model", "").explain();
}

}  // namespace zbphw
