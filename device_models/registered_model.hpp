// Models by the name in their configuration, with the constants of a preset: what cells and pulsed devices share.
#pragma once

#include <string>

#include "base/config_path.hpp"
#include "base/error.hpp"
#include "base/fields.hpp"
#include "base/registry.hpp"

namespace zbphw {

// Expands "preset" (base/config_path.hpp), looks the value of "model" up in the registry of Kind and calls that Kind's
// make(json, where). `what` names the kind in errors: "cell model". Throws a config Error.
template <class Kind>
auto make_registered_model(const RawConfig& config, const std::string& what) {
  std::string where = config.where;
  const Json json = expand_preset(config.value, "devices/presets", where);
  const auto& models = Registry<Kind>::instance();
  const auto model = json.find("model");
  if (model == json.end() || !model->is_string()) {
    const std::string got = model == json.end() ? "is missing" : "got " + model->dump();
    throw config_error(where + ".model",
                       got + "; allowed: " + join_choices(models.names()) + ", or a \"preset\" that names one");
  }
  return models.at(model->get<std::string>(), what, where + ".model").make(json, where);
}

}  // namespace zbphw
