// A network that relaxes, on the bench: `zbphw simulate` of a device with an equilibrium block.
#include <ATen/ATen.h>

#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/equilibrium/equilibrium_block.hpp"

namespace zbphw {
namespace {

// A relaxation that ends at rounding in single precision.
constexpr double rounding_tolerance = 3e-7;

class EquilibriumSubject final : public SimulationSubject {
 public:
  EquilibriumSubject(const DeviceConfig& device, std::int64_t width, std::uint64_t seed) {
    const RawConfig raw = device.block("equilibrium");
    config_ = read_config<EquilibriumConfig>(raw.value, raw.where);
    request_.output_width = width;
    request_.seed = seed;
  }

  std::string block_name() const override { return "equilibrium"; }
  std::int64_t inputs() const override { return request_.output_width; }
  std::int64_t outputs() const override { return request_.output_width; }

  // The sequencer allows every query the time of the slowest, so that all take the same.
  ChipTotals serve(std::int64_t queries, const QueryObserver& observer, const std::string& vcd_path) override {
    return simulate_chip(chip(), shape(), {queries, 1}, observer, vcd_path);
  }
  std::optional<QueryTiming> timing() const override { return query_timing(chip(), shape()); }
  EnergySources energy_sources() const override { return energy_sources_of(config_.chip); }

  at::Tensor ideal(const at::Tensor& inputs) override {
    BlockRequest exact = request_;
    exact.fidelity = Fidelity::ideal;
    QueryBatch batch;
    batch.inputs = inputs.to(at::kDouble);
    return EquilibriumBlock(config_, exact).query(batch).values;
  }

  std::vector<std::string> error_sources() const override {
    return {"unfinished_relaxation", "dynamics_noise", "drift", "read_noise", "dac", "adc"};
  }
  Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) override;

  double first_time_s() const override { return 0; }
  std::vector<double> drift_times_s() const override {
    const double period_s = config_.drift.calibration_period_s;
    return {0, period_s / 2, period_s * 0.99};
  }
  void check_time(double t_s) const override {
    if (t_s >= 0) return;
    std::ostringstream message;
    message << "--at-s: got " << t_s << "; allowed: at least 0";
    throw usage_error(message.str());
  }

  Json details() const override {
    const double tau_ns = config_.chip.array.settle_ns;
    return {{"noise_source", config_.noise_source},
            {"drift_source", config_.drift.source},
            {"settling",
             {{"time_constant_ns", tau_ns},
              {"steps_mean", steps_.to(at::kDouble).mean().item<double>()},
              {"steps_slowest", steps_.max().item<std::int64_t>()},
              {"time_slowest_ns", tau_ns * slowest_time_constants()},
              {"residual_largest", largest_residual_}}}};
  }
  std::string details_text() const override {
    std::ostringstream out;
    out << "settling to a relative step of " << config_.relaxation.tolerance << "\n  steps: mean "
        << steps_.to(at::kDouble).mean().item<double>() << ", slowest query " << steps_.max().item<std::int64_t>()
        << " of " << config_.relaxation.step << " time constants each\n  time allowed to every query: "
        << config_.chip.array.settle_ns * slowest_time_constants() << " ns, " << slowest_time_constants()
        << " time constants\n  noise: " << config_.noise_source << "\n  drift: " << config_.drift.source
        << "; calibrated every " << config_.drift.calibration_period_s << " s\n";
    return out.str();
  }

 private:
  ChipConfig chip() const { return relaxing_chip(config_.chip, slowest_time_constants()); }
  QueryShape shape() const {
    return {inputs(),
            outputs(),
            EquilibriumBlock(config_, request_).dynamics().crosspoints(),
            config_.dac.bits.value_or(16),
            config_.adc.bits.value_or(16),
            config_.reads};
  }
  double slowest_time_constants() const { return config_.relaxation.step * steps_.max().item<double>(); }

  EquilibriumConfig config_;
  BlockRequest request_;
  at::Tensor steps_ = at::zeros({1}, at::kLong);  // of every query, from the first reading
  double largest_residual_ = 0;
  bool has_read_ = false;
};

Reading EquilibriumSubject::read(const at::Tensor& inputs, const std::string& source_off, double t_s) {
  EquilibriumConfig config = config_;
  const EquilibriumConfig exact = without_effects(config_);
  if (source_off == "unfinished_relaxation") config.relaxation.tolerance = rounding_tolerance;
  if (source_off == "dynamics_noise") config.dynamics_noise_fraction = 0;
  if (source_off == "drift") config.drift = exact.drift;
  if (source_off == "read_noise") config.read_noise_fraction = 0;
  if (source_off == "dac") config.dac = exact.dac;
  if (source_off == "adc") config.adc = exact.adc;
  EquilibriumBlock block(config, request_);
  SettleRequest request;
  request.inputs = inputs;
  request.slot.start_s = t_s;
  const SettleReadout settled = block.settle(request);
  if (!has_read_) {
    if (!settled.settled.all().item<bool>()) block.query({inputs, request.slot, {}, 0});  // says which one, and throws
    steps_ = settled.steps;
    largest_residual_ = settled.residual.max().item<double>();
    has_read_ = true;
  }
  Reading reading;
  reading.values = settled.values;
  for (std::size_t q = 0; q < settled.saturated_inputs.size(); ++q) {
    reading.saturated.push_back(settled.saturated_inputs[q] + settled.saturated_outputs[q]);
  }
  reading.saturated_outputs = block.meter().saturated_outputs;
  reading.adc_conversions = block.meter().adc_conversions;
  return reading;
}

}  // namespace

std::unique_ptr<SimulationSubject> equilibrium_subject(const DeviceConfig& device, std::int64_t width,
                                                       std::uint64_t seed) {
  return std::make_unique<EquilibriumSubject>(device, width, seed);
}

}  // namespace zbphw
