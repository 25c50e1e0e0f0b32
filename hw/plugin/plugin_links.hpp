// The attached chips of one device: blocks whose sections name the same plugin share one library or process, because an
// instrument can have one owner only.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/plugin/chip_link.hpp"
#include "hw/plugin/plugin_config.hpp"

namespace zbphw {

// A link that has introduced itself.
struct PluginLink {
  std::shared_ptr<ChipLink> link;
  std::string name;                 // what the plugin calls itself
  std::vector<std::string> blocks;  // kinds that it offers
  std::vector<std::string> can;     // optional operations: program, settle, probe, ports, totals, resume

  bool offers(const std::string& operation) const;
};

class PluginLinks {
 public:
  // Throws a device Error that names the library or command.
  PluginLink link(const PluginConfig& config);

 private:
  std::map<std::string, PluginLink> links_;  // by what decides which process it is
};

}  // namespace zbphw
