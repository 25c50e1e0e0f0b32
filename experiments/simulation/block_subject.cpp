#include <ATen/ATen.h>

#include <cmath>
#include <map>
#include <sstream>

#include "base/error.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/block_registry.hpp"

namespace zbphw {
namespace {

class BlockSubject final : public SimulationSubject {
 public:
  BlockSubject(const DeviceConfig& device, const std::string& name, std::int64_t output_width, std::uint64_t seed)
      : raw_(device.block(name)), config_(read_config<ActivationBlockConfig>(raw_.value, raw_.where)), name_(name) {
    request_.output_width = output_width;
    request_.seed = seed;
    spec_ = make_block(name_, raw_, request_)->spec();
  }

  std::string block_name() const override { return name_; }
  std::int64_t inputs() const override { return spec_.input_width; }
  std::int64_t outputs() const override { return spec_.output_width; }
  ChipTotals serve(std::int64_t queries, const QueryObserver& observer, const std::string& vcd_path) override {
    return simulate_chip(config_.chip, shape(), {queries, 1}, observer, vcd_path);
  }
  std::optional<QueryTiming> timing() const override { return query_timing(config_.chip, shape()); }
  EnergySources energy_sources() const override { return energy_sources_of(config_.chip); }

  at::Tensor ideal(const at::Tensor& inputs) override {
    BlockRequest exact = request_;
    exact.fidelity = Fidelity::ideal;
    QueryBatch batch;
    batch.inputs = inputs;
    return make_block(name_, raw_, exact)->query(batch).values;
  }

  std::vector<std::string> error_sources() const override { return {"drift", "read_noise", "dac", "adc"}; }
  Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) override;

  double first_time_s() const override { return 0; }
  std::vector<double> drift_times_s() const override {
    const double period_s = config_.drift.calibration_period_s;
    return {0, period_s / 2, period_s * 0.99};
  }
  void check_time(double t_s) const override {
    if (t_s >= 0 && std::isfinite(t_s)) return;
    std::ostringstream message;
    message << "--at-s: got " << t_s << "; allowed: at least 0";
    throw usage_error(message.str());
  }

  Json details() const override {
    return {{"read_noise_source", config_.read_noise_source}, {"drift_source", config_.drift.source}};
  }
  std::string details_text() const override {
    std::ostringstream out;
    out << "block\n  read noise: " << config_.read_noise_source << "\n  drift: " << config_.drift.source
        << "; calibrated every " << config_.drift.calibration_period_s << " s\n";
    return out.str();
  }

 private:
  QueryShape shape() const {
    return {spec_.input_width, spec_.output_width, spec_.output_width, config_.dac.bits.value_or(16),
            config_.adc.bits.value_or(16)};
  }

  RawConfig raw_;
  ActivationBlockConfig config_;
  std::string name_;
  BlockRequest request_;
  BlockSpec spec_;
};

Reading BlockSubject::read(const at::Tensor& inputs, const std::string& source_off, double t_s) {
  ActivationBlockConfig config = config_;
  const ActivationBlockConfig exact = without_effects(config_);
  if (source_off == "drift") config.drift = exact.drift;
  if (source_off == "read_noise") config.read_noise_fraction = 0;
  if (source_off == "dac") config.dac = exact.dac;
  if (source_off == "adc") config.adc = exact.adc;
  const auto block = make_block(name_, {write_config(config), raw_.where}, request_);
  Reading reading;
  reading.values = at::empty({inputs.size(0), outputs()}, at::kFloat);
  QueryBatch batch;
  for (std::int64_t q = 0; q < inputs.size(0); ++q) {
    const std::int64_t before = block->meter().saturated_outputs + block->meter().saturated_inputs;
    batch.inputs = inputs.narrow(0, q, 1);
    batch.slot.first_row = static_cast<std::uint32_t>(q);
    batch.slot.start_s = t_s;
    reading.values.select(0, q).copy_(block->query(batch).values[0]);
    reading.saturated.push_back(block->meter().saturated_outputs + block->meter().saturated_inputs - before);
  }
  reading.saturated_outputs = block->meter().saturated_outputs;
  reading.adc_conversions = block->meter().adc_conversions;
  return reading;
}

}  // namespace

std::unique_ptr<SimulationSubject> block_subject(const DeviceConfig& device, const std::string& block,
                                                 std::int64_t output_width, std::uint64_t seed) {
  return std::make_unique<BlockSubject>(device, block, output_width, seed);
}

}  // namespace zbphw
