#include "device_models/cells/make_cell.hpp"

#include "base/config_path.hpp"
#include "base/error.hpp"
#include "base/registry.hpp"
#include "device_models/cells/cell_registry.hpp"

namespace zbphw {

void describe_common(Fields& f, CellCommon& c) {
  f.required().text("model", c.model, "the cell model's name");
  f.text("source", c.source, "where the constants come from");
  f.optional_object("device_to_device", c.device_to_device, "differences from device to device, and stuck devices");
}

std::unique_ptr<CellModel> make_cell(const RawConfig& config) {
  std::string where = config.where;
  const Json json = expand_preset(config.value, "devices/presets", where);
  const auto model = json.find("model");
  const auto& models = Registry<CellKind>::instance();
  if (model == json.end() || !model->is_string()) {
    throw config_error(where + ".model", (model == json.end() ? "is missing" : "got " + model->dump()) + "; allowed: " +
                                             join_choices(models.names()) + ", or a \"preset\" that names one");
  }
  return models.at(model->get<std::string>(), "cell model", where + ".model").make(json, where);
}

std::vector<std::string> cell_model_names() { return Registry<CellKind>::instance().names(); }

std::vector<FieldRow> explain_cell_model(const std::string& name) {
  return Registry<CellKind>::instance().at(name, "cell model", "").explain();
}

}  // namespace zbphw
