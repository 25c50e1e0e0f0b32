// A photonic mesh on the bench: `zbphw simulate` of a device with a photonic_linear block.
#include <ATen/ATen.h>

#include <sstream>

#include "base/error.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/photonic/photonic_linear.hpp"

namespace zbphw {
namespace {

class PhotonicSubject final : public SimulationSubject {
 public:
  PhotonicSubject(const DeviceConfig& device, const at::Tensor& weights, std::uint64_t seed)
      : raw_(device.block("photonic_linear")),
        config_(read_config<PhotonicConfig>(raw_.value, raw_.where)),
        shifters_(read_phase_shifter({config_.shifters.value, raw_.where + ".shifters"})),
        weights_(weights),
        request_(request_of(weights, seed)),
        block_(programmed(config_)) {}

  std::string block_name() const override { return "photonic_linear"; }
  std::int64_t inputs() const override { return weights_.size(1); }
  std::int64_t outputs() const override { return weights_.size(0); }
  ChipTotals serve(std::int64_t queries, const QueryObserver& observer, const std::string& vcd_path) override {
    return simulate_chip(heated_chip(config_, block_->shape()), block_->shape(), {queries, 1}, observer, vcd_path);
  }
  EnergySources energy_sources() const override { return energy_sources_of(config_.chip); }
  std::optional<QueryTiming> timing() const override { return query_timing(config_.chip, block_->shape()); }
  std::int64_t operations_per_query() const override { return 2 * inputs() * outputs(); }
  at::Tensor ideal(const at::Tensor& inputs) override {
    return at::mm(inputs.to(at::kDouble), weights_.to(at::kDouble).t());
  }

  std::vector<std::string> error_sources() const override {
    return {"phase_quantisation", "gamma_spread", "crosstalk", "phase_noise", "detector", "dac", "adc"};
  }
  bool has_source(const std::string& source) const override {
    if (source == "phase_quantisation") return shifters_.phase_bits.has_value();
    if (source == "gamma_spread") return shifters_.gamma_spread > 0;
    if (source == "crosstalk") return !shifters_.crosstalk.empty();
    if (source == "phase_noise") return shifters_.phase_noise_rad > 0;
    if (source == "dac") return config_.dac.bits.has_value();
    if (source == "adc") return config_.adc.bits.has_value();
    return config_.detector.bandwidth_mhz > 0 || config_.detector.detector_noise_na > 0;
  }
  Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) override;

  // Phases are held by their heaters: nothing ages.
  double first_time_s() const override { return 0; }
  std::vector<double> drift_times_s() const override { return {}; }
  void check_time(double) const override {
    throw usage_error(
        "--at-s: the heaters of a photonic mesh hold their phases, so its answers do not age; leave it out");
  }

  Json details() const override {
    return {{"shifters", block_->shifters()},
            {"unreached_shifters", block_->unreached_shifters()},
            {"shifter_source", shifters_.source},
            {"parts_source", config_.parts_source}};
  }
  std::string details_text() const override {
    std::ostringstream out;
    out << "mesh\n  phase shifters: " << block_->shifters() << ", of which the largest drive does not reach "
        << block_->unreached_shifters() << "\n  shifters: " << shifters_.source
        << "\n  spread, noise, crosstalk, detector: " << config_.parts_source << "\n";
    return out.str();
  }

 private:
  static BlockRequest request_of(const at::Tensor& weights, std::uint64_t seed) {
    BlockRequest request;
    request.output_width = weights.size(0);
    request.input_width = weights.size(1);
    request.seed = seed;
    return request;
  }
  std::unique_ptr<PhotonicLinear> programmed(const PhotonicConfig& config) const {
    auto block = std::make_unique<PhotonicLinear>(config, raw_.where, request_);
    block->program(weights_);
    return block;
  }

  RawConfig raw_;
  PhotonicConfig config_;
  PhaseShifterConfig shifters_;
  at::Tensor weights_;
  BlockRequest request_;
  std::unique_ptr<PhotonicLinear> block_;
};

Reading PhotonicSubject::read(const at::Tensor& inputs, const std::string& source_off, double) {
  PhotonicConfig config = config_;
  PhaseShifterConfig shifters = shifters_;
  if (source_off == "phase_quantisation") shifters.phase_bits.reset();
  if (source_off == "gamma_spread") shifters.gamma_spread = 0;
  if (source_off == "crosstalk") shifters.crosstalk.clear();
  if (source_off == "phase_noise") shifters.phase_noise_rad = 0;
  if (source_off == "detector") config.detector.bandwidth_mhz = config.detector.detector_noise_na = 0;
  if (source_off == "dac") config.dac.bits.reset();
  if (source_off == "adc") config.adc.bits.reset();
  config.shifters.value = write_config(shifters);
  const auto block = programmed(config);
  Reading reading;
  reading.values = at::empty({inputs.size(0), outputs()}, at::kFloat);
  QueryBatch batch;
  for (std::int64_t q = 0; q < inputs.size(0); ++q) {
    const std::int64_t before = block->meter().saturated_outputs + block->meter().saturated_inputs;
    batch.inputs = inputs.narrow(0, q, 1);
    batch.slot.first_row = static_cast<std::uint32_t>(q);
    reading.values.select(0, q).copy_(block->query(batch).values[0]);
    reading.saturated.push_back(block->meter().saturated_outputs + block->meter().saturated_inputs - before);
  }
  reading.saturated_outputs = block->meter().saturated_outputs;
  reading.adc_conversions = block->meter().adc_conversions;
  return reading;
}

}  // namespace

std::unique_ptr<SimulationSubject> photonic_subject(const DeviceConfig& device, const at::Tensor& weights,
                                                    std::uint64_t seed) {
  return std::make_unique<PhotonicSubject>(device, weights, seed);
}

}  // namespace zbphw
