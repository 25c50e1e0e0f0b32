// A chip that exists, or somebody's simulator of one, as a physical block. The trainer cannot tell it from ours.
//
// Values travel as fp32; fp64 inputs are rounded to it. What the chip answers is not trusted: an answer of the wrong
// size or with a value that is not finite is a device Error with the number of the query, counted from the run's first
// one. Answers of inputs or outputs beyond a causal row's own are set to zero.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "device_models/converters/converter.hpp"
#include "hw/block_registry.hpp"
#include "hw/plugin/plugin_config.hpp"
#include "hw/plugin/plugin_links.hpp"

namespace zbphw {

template <>
struct Choices<Locality> {
  static std::vector<std::pair<Locality, std::string>> all();
};

// What a plugin says about an opened block; the keys are documented in zbphw_plugin.h.
struct ChipDescription {
  std::int64_t input_width = 0;
  std::int64_t output_width = 0;
  Locality locality = Locality::row;
  bool holds_weights = false;
  ConverterConfig dac;
  ConverterConfig adc;
  double readout_noise = 0;
};
void describe(Fields& f, ChipDescription& c);

class PluginBlock final : public PhysicalBlock {
 public:
  // Opens a block of `kind`. For a kind that zbphw simulates, the chip's widths must be those of the simulated block.
  // Throws a config Error for the device file's mistakes and a device Error for the plugin's.
  PluginBlock(const std::string& kind, const RawConfig& section, const BlockRequest& request);
  ~PluginBlock() override;

  const BlockSpec& spec() const override { return spec_; }
  Readout query(const QueryBatch& batch) override;
  ProbeReadout probe(const ProbeRequest& request) override;
  at::Tensor dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const override;
  void program(const at::Tensor& weights) override;
  at::Tensor readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) override;
  double clock_s() const override { return clock_s_; }
  const Meter& meter() const override { return meter_; }
  void resume_at(double clock_s, const Meter& meter) override;

  // One equilibrium query a row: inputs driven, outputs pulled by `nudge` [rows, output_width] (undefined: by nothing).
  // Throws a device Error for a plugin without it.
  Readout settle(const QueryBatch& batch, const at::Tensor& nudge);

  const ChipDescription& description() const { return description_; }
  const std::string& plugin_name() const { return link_.name; }
  bool clock_can_be_set() const { return link_.offers("resume"); }
  // Kelvin; 0 where the chip does not say.
  double temperature_k() const { return temperature_k_; }

 private:
  // Which queries a call is about: `rows` rows that get `queries_per_row` each; no rows: none.
  struct Queries {
    QuerySlot slot;
    std::int64_t rows = 0;
    std::int64_t queries_per_row = 1;

    std::int64_t count() const { return rows * queries_per_row; }
  };
  void open(const PluginConfig& config, const BlockRequest& request);
  void check_widths() const;
  Readout ask(const char* operation, const QueryBatch& batch, const at::Tensor* nudge);
  at::Tensor checked(const at::Tensor& tensor, std::int64_t width, const char* what) const;
  void check_inputs(const at::Tensor& inputs, std::int64_t first_row) const;
  std::int64_t driven(std::int64_t row, std::int64_t width) const;
  Quantiser dac_at(const float* point, std::int64_t row, double margin) const;
  at::Tensor applied_by_description(const at::Tensor& inputs, const at::Tensor& points, const QueryBatch& batch) const;
  at::Tensor port_figure(std::size_t which, const at::Tensor& range_point, double margin, std::int64_t first_row) const;
  Json slot_header(const char* operation, const QuerySlot& slot, std::int64_t rows) const;

  // The answer to a call about queries, its errors thrown with their numbers.
  Json answer(const ChipCall& call, const Queries& queries, double timeout_s) const;
  Error failed(const Queries& queries, const std::string& why) const;
  void check_count(const Json& answer, std::size_t array, std::int64_t expected, const char* what,
                   const Queries& queries) const;
  // Every entry of `values` [rows, width] that is read must be finite; the others become zero.
  void check_values(at::Tensor& values, const char* what, bool causal, const Queries& queries) const;
  void book(const Json& answer, const Queries& queries, double wall_s);

  std::string kind_;
  std::string where_;  // "library (kind)", which starts every error
  double timeout_s_;
  double start_timeout_s_;
  PluginLink link_;
  std::int64_t chip_ = -1;
  ChipDescription description_;
  BlockSpec spec_;
  std::int64_t asked_ = 0;  // queries so far
  Meter base_;              // what a resumed run had done before, where the chip does not go on counting from it
  Meter meter_;
  std::chrono::steady_clock::time_point clock_start_ = std::chrono::steady_clock::now();
  double clock_start_s_ = 0;  // what the clock said then, where the chip has none
  double clock_s_ = 0;
  double temperature_k_ = 0;
};

}  // namespace zbphw
