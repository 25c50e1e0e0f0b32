// Blocks by name: a new block is one file in hw/blocks/ that registers itself here.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "hw/block_config.hpp"
#include "hw/physical_block.hpp"

namespace zbphw {

class ChipTime;     // hw/chip/chip_time.hpp
class PluginLinks;  // hw/plugin/plugin_links.hpp

// What a user of a block decides, beside the device file.
struct BlockRequest {
  std::int64_t input_width = 0;  // of a block that holds weights; 0: what follows from the kind and output_width
  std::int64_t output_width = 0;
  std::int64_t causal_period = 0;  // see BlockSpec
  Fidelity fidelity = Fidelity::noisy;
  std::uint64_t seed = 1;  // of this chip's noise and mismatch
  // Shared by the blocks of one chip, when they are attached and not simulated; null: a link of this block's own.
  std::shared_ptr<PluginLinks> plugins;
  // Shared by the blocks of one chip; null: a clock of this block's own.
  std::shared_ptr<ChipTime> time;
};

struct BlockKind {
  std::string summary;
  // Throws a config Error at the config's place.
  std::function<std::unique_ptr<PhysicalBlock>(const RawConfig& config, const BlockRequest& request)> make;
  std::function<std::vector<FieldRow>()> explain;
  // The complete effective configuration, defaults filled in. Throws a config Error at the config's place.
  std::function<Json(const RawConfig& config)> check;
  // A block whose network is its chip's own: two blocks of this name need not compute the same.
  bool has_own_network = false;
};

// A block whose configuration is the described struct T.
template <class T>
BlockKind described_block(
    const std::string& summary,
    std::function<std::unique_ptr<PhysicalBlock>(const RawConfig& config, const BlockRequest& request)> make) {
  return {summary, std::move(make), [] { return explain_config<T>(); },
          [](const RawConfig& config) { return write_config(read_config<T>(config.value, config.where)); }};
}

// Whether the name alone says what a block computes without effects, so that a plugin's block can be compared with
// ours.
bool computes_known_function(const std::string& name);

// `name` is a key of a device file's "blocks", `config` its value. A section that names a plugin gives a PluginBlock,
// or with request.fidelity ideal the simulated block without effects. Throws a config Error for a name that neither is
// simulated nor has a plugin, and a device Error for a plugin that cannot be used.
std::unique_ptr<PhysicalBlock> make_block(const std::string& name, const RawConfig& config,
                                          const BlockRequest& request);

// The complete effective section of one block, as BlockKind::check; `folder` is where its plugin is looked for, unless
// the section says so itself. Throws a config Error.
Json check_block(const std::string& name, const RawConfig& config, const std::string& folder = "");

}  // namespace zbphw
