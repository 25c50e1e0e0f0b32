#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/crossbar/crossbar_linear.hpp"

namespace zbphw {
namespace {

constexpr std::size_t histogram_bins = 20;

// Both cells of each pair as they lie in the array: [inputs, 2 outputs], G+ and G- of an output side by side.
std::vector<double> side_by_side(const CellPairs& pairs) {
  std::vector<double> array;
  array.reserve(2 * pairs.plus.size());
  for (std::size_t k = 0; k < pairs.plus.size(); ++k) {
    array.push_back(pairs.plus[k]);
    array.push_back(pairs.minus[k]);
  }
  return array;
}

struct Histogram {
  double top_us = 0;
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(histogram_bins);

  void add(const std::vector<double>& values) {
    for (const double v : values) {
      const double place = v / top_us * static_cast<double>(histogram_bins);
      ++counts[std::min(static_cast<std::size_t>(std::max(place, 0.0)), histogram_bins - 1)];
    }
  }
};

struct TileSeries {
  TraceWriter::Series target;
  TraceWriter::Series programmed;
  std::vector<TraceWriter::Series> at;
};

class CrossbarSubject final : public SimulationSubject {
 public:
  CrossbarSubject(const CrossbarConfig& config, const at::Tensor& weights, std::uint64_t seed)
      : config_(config), weights_(weights), block_(config, request(weights, seed, true)) {
    block_.program(weights_);
  }

  std::string block_name() const override { return block_.spec().name; }
  std::int64_t inputs() const override { return block_.spec().input_width; }
  std::int64_t outputs() const override { return block_.spec().output_width; }
  const ChipConfig& chip() const override { return config_.chip; }
  QueryShape query_shape() const override { return block_.query_shape(); }

  at::Tensor ideal(const at::Tensor& inputs) override {
    return at::mm(inputs.to(at::kDouble), weights_.to(at::kDouble).t());
  }

  std::vector<std::string> error_sources() const override {
    std::vector<std::string> names;
    for (const auto& [name, member] : crossbar_effects()) names.push_back(name);
    return names;
  }

  Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) override;

  double first_time_s() const override { return block_.first_time_s(); }
  std::vector<double> drift_times_s() const override;
  void check_time(double t_s) const override;
  Json details() const override;
  std::string details_text() const override;
  EnergyByComponent programming_energy() const override {
    EnergyByComponent energy;
    energy.programming_j = block_.programming().energy_j;
    return energy;
  }

  void declare_state(TraceWriter& trace, const std::vector<double>& at_s) override;
  void write_state(TraceWriter& trace, const std::vector<double>& at_s) override;

 private:
  static CrossbarRequest request(const at::Tensor& weights, std::uint64_t seed, bool programming_errors) {
    CrossbarRequest request;
    request.outputs = weights.size(0);
    request.inputs = weights.size(1);
    request.seed = seed;
    request.effects.programming = programming_errors;
    return request;
  }
  Histogram histogram(const CellPairs& (ProgrammedTile::*state)() const, double top_us) const;
  double largest_us() const;

  CrossbarConfig config_;
  at::Tensor weights_;
  CrossbarLinear block_;
  std::vector<std::vector<std::int64_t>> saturated_by_adc_;  // of the first reading
  std::vector<TileSeries> series_;
};

Reading CrossbarSubject::read(const at::Tensor& inputs, const std::string& source_off, double t_s) {
  CrossbarEffects effects;
  for (const auto& [name, member] : crossbar_effects()) {
    if (name == source_off) effects.*member = false;
  }
  block_.set_effects(effects);
  if (!effects.programming) block_.program(weights_);
  block_.age_to(t_s);
  const std::vector<std::vector<std::int64_t>> before = block_.saturated_by_adc();
  const Meter start = block_.meter();
  Reading reading;
  reading.values = at::empty({inputs.size(0), outputs()}, at::kFloat);
  QueryBatch batch;
  for (std::int64_t q = 0; q < inputs.size(0); ++q) {
    const std::int64_t saturated = block_.meter().saturated_outputs + block_.meter().saturated_inputs;
    batch.inputs = inputs.narrow(0, q, 1);
    batch.slot.first_row = static_cast<std::uint32_t>(q);
    reading.values.select(0, q).copy_(block_.query(batch).values[0]);
    reading.saturated.push_back(block_.meter().saturated_outputs + block_.meter().saturated_inputs - saturated);
  }
  reading.saturated_outputs = block_.meter().saturated_outputs - start.saturated_outputs;
  reading.adc_conversions = block_.meter().adc_conversions - start.adc_conversions;
  if (saturated_by_adc_.empty()) saturated_by_adc_ = block_.saturated_by_adc();
  if (!effects.programming) {
    block_.set_effects({});
    block_.program(weights_);
  }
  return reading;
}

}  // namespace
}  // namespace zbphw
