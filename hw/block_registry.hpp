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

// What a user of a block decides, beside the device file.
struct BlockRequest {
  std::int64_t output_width = 0;
  std::int64_t causal_period = 0;  // see BlockSpec
  Fidelity fidelity = Fidelity::noisy;
  std::uint64_t seed = 1;  // of this chip's noise and mismatch
};

struct BlockKind {
  std::string summary;
  // Throws a config Error at the config's place.
  std::function<std::unique_ptr<PhysicalBlock>(const RawConfig& config, const BlockRequest& request)> make;
  std::function<std::vector<FieldRow>()> explain;
  // The complete effective configuration, defaults filled in. Throws a config Error at the config's place.
  std::function<Json(const RawConfig& config)> check;
};

// A block whose configuration is the described struct T.
template <class T>
BlockKind described_block(
    const std::string& summary,
    std::function<std::unique_ptr<PhysicalBlock>(const RawConfig& config, const BlockRequest& request)> make) {
  return {summary, std::move(make), [] { return explain_config<T>(); },
          [](const RawConfig& config) { return write_config(read_config<T>(config.value, config.where)); }};
}

// `name` is a key of a device file's "blocks". Throws a config Error for an unknown one.
std::unique_ptr<PhysicalBlock> make_block(const std::string& name, const RawConfig& config,
                                          const BlockRequest& request);

}  // namespace zbphw
