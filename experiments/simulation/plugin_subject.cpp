#include <ATen/ATen.h>

#include <cmath>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/plugin/plugin_block.hpp"

namespace zbphw {
namespace {

// A chip that is attached: what it costs is what it says (or took), and nothing in it can be switched off.
class PluginSubject final : public SimulationSubject {
 public:
  PluginSubject(const RawConfig& section, std::string name, const at::Tensor& weights, const BlockRequest& request)
      : section_(section), name_(std::move(name)), request_(request), block_(name_, section, request) {
    if (block_.description().holds_weights) {
      weights_ = weights;
      block_.program(weights_);
    } else if (!computes_known_function(name_)) {
      throw config_error(section.where, "there is nothing to compare block \"" + name_ +
                                            "\" with: it holds no weights, and zbphw does not simulate it");
    }
    programming_ = block_.meter().energy;
    start_s_ = block_.clock_s();
  }

  std::string block_name() const override { return name_; }
  std::int64_t inputs() const override { return block_.description().input_width; }
  std::int64_t outputs() const override { return block_.description().output_width; }

  ChipTotals serve(std::int64_t queries, const QueryObserver& observer, const std::string& vcd_path) override;
  EnergySources energy_sources() const override {
    const std::string source = "as " + block_.plugin_name() + " says";
    return {source, source, source, source, source};
  }

  at::Tensor ideal(const at::Tensor& inputs) override {
    if (weights_.defined()) return at::mm(inputs.to(at::kDouble), weights_.to(at::kDouble).t());
    BlockRequest exact = request_;
    exact.fidelity = Fidelity::ideal;
    QueryBatch batch;
    batch.inputs = inputs;
    return make_block(name_, section_, exact)->query(batch).values;
  }

  std::vector<std::string> error_sources() const override { return {}; }
  Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) override;

  double first_time_s() const override { return start_s_; }
  std::vector<double> drift_times_s() const override { return {}; }
  void check_time(double t_s) const override {
    if (!block_.clock_can_be_set()) {
      throw usage_error("--at-s: the clock of " + block_.plugin_name() + " is its own and cannot be set");
    }
    if (t_s >= 0 && std::isfinite(t_s)) return;
    std::ostringstream message;
    message << "--at-s: got " << t_s << "; allowed: at least 0";
    throw usage_error(message.str());
  }

  Json details() const override {
    Json plugin = section_.value.at("plugin");
    plugin["name"] = block_.plugin_name();
    plugin["temperature_k"] = block_.temperature_k() > 0 ? Json(block_.temperature_k()) : Json();
    return {{"plugin", plugin}};
  }
  std::string details_text() const override {
    std::ostringstream out;
    out << "plugin\n  " << block_.plugin_name() << ", " << read_plugin(section_).name();
    if (block_.temperature_k() > 0) out << ", at " << block_.temperature_k() << " K";
    out << "\n";
    return out.str();
  }
  EnergyByComponent programming_energy() const override {
    EnergyByComponent energy;
    energy.programming_j = programming_.programming_j;
    return energy;
  }

 private:
  RawConfig section_;
  std::string name_;
  BlockRequest request_;
  PluginBlock block_;
  at::Tensor weights_;  // undefined: it holds none
  EnergyByComponent programming_;
  double start_s_ = 0;
  std::vector<ServedQuery> served_;  // of the first reading
  ChipTotals totals_;
};

Reading PluginSubject::read(const at::Tensor& inputs, const std::string&, double t_s) {
  const bool sets_clock = block_.clock_can_be_set();
  if (sets_clock) block_.resume_at(t_s, block_.meter());
  const Meter start = block_.meter();
  const bool is_first = served_.empty();
  Reading reading;
  reading.values = at::empty({inputs.size(0), outputs()}, at::kFloat);
  QueryBatch batch;
  batch.slot.start_s = sets_clock ? t_s : -1;
  for (std::int64_t q = 0; q < inputs.size(0); ++q) {
    const Meter before = block_.meter();
    batch.inputs = inputs.narrow(0, q, 1);
    batch.slot.first_row = static_cast<std::uint32_t>(q);
    reading.values.select(0, q).copy_(block_.query(batch).values[0]);
    const Meter& after = block_.meter();
    reading.saturated.push_back(after.saturated_outputs + after.saturated_inputs - before.saturated_outputs -
                                before.saturated_inputs);
    if (!is_first) continue;
    ServedQuery served;
    served.row = q;
    served.start_ps = std::llround((before.busy_s - start.busy_s) * 1e12);
    served.end_ps = std::llround((after.busy_s - start.busy_s) * 1e12);
    served.energy_j = after.energy.total_j() - before.energy.total_j();
    served_.push_back(served);
  }
  const Meter& end = block_.meter();
  reading.saturated_outputs = end.saturated_outputs - start.saturated_outputs;
  reading.adc_conversions = end.adc_conversions - start.adc_conversions;
  if (is_first) {
    totals_.queries = inputs.size(0);
    totals_.dac_conversions = end.dac_conversions - start.dac_conversions;
    totals_.adc_conversions = reading.adc_conversions;
    totals_.elapsed_ps = served_.back().end_ps;
    totals_.energy = end.energy;
    totals_.energy += start.energy.scaled(-1);
  }
  return reading;
}

ChipTotals PluginSubject::serve(std::int64_t, const QueryObserver& observer, const std::string&) {
  for (const ServedQuery& query : served_) observer(query);
  return totals_;
}

}  // namespace

std::unique_ptr<SimulationSubject> plugin_subject(const DeviceConfig& device, const std::string& block,
                                                  const at::Tensor& weights, std::int64_t output_width,
                                                  std::uint64_t seed) {
  BlockRequest request;
  request.output_width = output_width;
  request.input_width = weights.defined() ? weights.size(1) : 0;
  request.seed = seed;
  return std::make_unique<PluginSubject>(device.block(block), block, weights, request);
}

}  // namespace zbphw
