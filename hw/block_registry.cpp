#include "hw/block_registry.hpp"

#include <algorithm>

#include "base/registry.hpp"
#include "hw/plugin/plugin_block.hpp"
#include "hw/plugin/plugin_config.hpp"

namespace zbphw {
namespace {

// What a plugin's block would compute without effects is known for the kinds that we simulate.
std::unique_ptr<PhysicalBlock> without_plugin(const std::string& name, const RawConfig& config,
                                              const BlockRequest& request) {
  const Registry<BlockKind>& kinds = Registry<BlockKind>::instance();
  if (!computes_known_function(name)) {
    throw config_error(config.where, "only the plugin knows what a block \"" + name +
                                         "\" computes; without effects there are " + join_choices(kinds.names()));
  }
  return kinds.at(name, "block", config.where).make({Json::object(), config.where}, request);
}

}  // namespace

bool computes_known_function(const std::string& name) {
  const Registry<BlockKind>& kinds = Registry<BlockKind>::instance();
  const std::vector<std::string> names = kinds.names();
  const bool is_kind = std::find(names.begin(), names.end(), name) != names.end();
  return is_kind && !kinds.at(name, "block", "").has_own_network;
}

std::unique_ptr<PhysicalBlock> make_block(const std::string& name, const RawConfig& config,
                                          const BlockRequest& request) {
  if (names_plugin(config.value)) {
    if (request.fidelity == Fidelity::ideal) return without_plugin(name, config, request);
    if (request.fidelity == Fidelity::systemc) {
      throw config_error(config.where, "an attached chip keeps its own time; allowed: ideal or noisy, not systemc");
    }
    return std::make_unique<PluginBlock>(name, config, request);
  }
  return Registry<BlockKind>::instance().at(name, "block", config.where).make(config, request);
}

Json check_block(const std::string& name, const RawConfig& config, const std::string& folder) {
  if (names_plugin(config.value)) return complete_plugin(config, folder);
  return Registry<BlockKind>::instance().at(name, "block", config.where).check(config);
}

}  // namespace zbphw
