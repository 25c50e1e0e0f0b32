// Blocks on the plugins of the tests.
#pragma once

#include <ATen/ATen.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "hw/block_registry.hpp"
#include "hw/plugin/plugin_block.hpp"

inline zbphw::RawConfig plugin_section(const zbphw::Json& plugin) {
  return {{{"plugin", plugin}}, "d.json: $.blocks.x"};
}

inline zbphw::BlockRequest wide(std::int64_t outputs, std::int64_t causal_period = 0) {
  zbphw::BlockRequest request;
  request.output_width = outputs;
  request.causal_period = causal_period;
  return request;
}

// The plugin that fails on demand, isolated unless `more` says otherwise.
inline std::unique_ptr<zbphw::PluginBlock> fault_block(const std::string& kind, const zbphw::BlockRequest& request,
                                                       const zbphw::Json& options, const zbphw::Json& more = {}) {
  zbphw::Json plugin = {{"library", ZBPHW_FAULT_PLUGIN}, {"options", options}};
  if (more.is_object()) plugin.update(more);
  return std::make_unique<zbphw::PluginBlock>(kind, plugin_section(plugin), request);
}

// Some numbers between -1 and 1, [rows, width].
inline at::Tensor waves(std::int64_t rows, std::int64_t width, double phase = 0) {
  return at::sin(at::arange(rows * width, at::kDouble) * 0.7 + phase).to(at::kFloat).view({rows, width});
}

inline zbphw::QueryBatch batch_of(const at::Tensor& inputs) {
  zbphw::QueryBatch batch;
  batch.inputs = inputs;
  return batch;
}
