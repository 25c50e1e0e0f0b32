#include "hw/block_registry.hpp"

#include "base/registry.hpp"

namespace zbphw {

std::unique_ptr<PhysicalBlock> make_block(const std::string& name, const RawConfig& config,
                                          const BlockRequest& request) {
  return Registry<BlockKind>::instance().at(name, "block", config.where).make(config, request);
}

}  // namespace zbphw
