#include "hw/equilibrium/equilibrium_block.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/registry.hpp"
#include "hw/kernels/row_kernels.hpp"

namespace zbphw {
namespace {

// Nodes with mismatched time constants: a rate is 1 / (1 + spread z), never further from 1 than a factor of 2.
at::Tensor node_rates(const EquilibriumConfig& config, std::int64_t width, std::uint64_t seed) {
  if (config.time_constant_spread == 0) return {};
  const RandomAt at(seed, stream_id("equilibrium time constants"));
  at::Tensor rates = at::empty({width}, at::kFloat);
  for (std::int64_t j = 0; j < width; ++j) {
    const double tau = 1 + config.time_constant_spread * at.normal(static_cast<std::uint32_t>(j));
    rates.data_ptr<float>()[j] = static_cast<float>(1 / std::clamp(tau, 0.5, 2.0));
  }
  return rates;
}

std::vector<float> offset_ramps(const CoreDriftConfig& drift, std::int64_t width, std::uint64_t seed) {
  std::vector<float> ramp;
  if (drift.offset_ramp_fraction_per_s == 0) return ramp;
  ramp.resize(static_cast<std::size_t>(padded_length(width)));
  const RandomAt at(seed, stream_id("offset ramp equilibrium"));
  for (std::int64_t j = 0; j < width; ++j) {
    ramp[j] = static_cast<float>(drift.offset_ramp_fraction_per_s * at.normal(static_cast<std::uint32_t>(j)));
  }
  return ramp;
}

double range_top(const ConverterConfig& config, double largest) {
  return config.range == RangeSource::fixed ? config.full_scale : largest * config.headroom;
}

}  // namespace

EquilibriumBlock::EquilibriumBlock(const EquilibriumConfig& config, const BlockRequest& request)
    : config_(request.fidelity == Fidelity::ideal ? without_effects(config) : config),
      ideal_(request.fidelity == Fidelity::ideal),
      seed_(request.seed),
      dac_bits_(config.dac.bits.value_or(16)),
      adc_bits_(config.adc.bits.value_or(16)),
      dynamics_(config.dynamics, request.output_width, request.seed),
      rates_(node_rates(config_, request.output_width, request.seed)),
      ramp_(offset_ramps(config_.drift, request.output_width, request.seed)),
      time_(request.time ? request.time : analytic_chip_time()) {
  spec_.name = "equilibrium";
  spec_.input_width = request.output_width;
  spec_.output_width = request.output_width;
  spec_.locality = Locality::dense;
}

QueryShape EquilibriumBlock::shape() const {
  return {spec_.input_width, spec_.output_width, dynamics_.crosspoints(),
          dac_bits_,         adc_bits_,          config_.reads /* conversions of every output */};
}

at::Tensor EquilibriumBlock::checked(const at::Tensor& tensor, std::int64_t rows, const char* what) const {
  if (tensor.dim() != 2 || tensor.size(1) != spec_.input_width || tensor.size(0) == 0 || tensor.size(0) != rows) {
    std::ostringstream shape;
    shape << tensor.sizes();
    throw config_error("block equilibrium", std::string(what) + " has shape " + shape.str() + "; expected [rows, " +
                                                std::to_string(spec_.input_width) + "] with at least one row");
  }
  const at::Tensor finite = tensor.isfinite().all(1);
  if (!finite.all().item<bool>()) {
    const auto row = finite.logical_not().nonzero()[0].item<std::int64_t>();
    throw numerical_error("block equilibrium", "query " + std::to_string(row) + " of " + what + " is not finite");
  }
  // Exact blocks answer double precision in double precision.
  const bool keeps_double = ideal_ && tensor.scalar_type() == at::kDouble;
  return tensor.detach().to(at::kCPU, keeps_double ? at::kDouble : at::kFloat).contiguous();
}

// Both ranges follow from the clamped inputs, which are known before the phase and are the same in all phases.
EquilibriumBlock::Ranges EquilibriumBlock::ranges_of(const float* row, double margin) const {
  const double largest = row_kernels().extent(spec_.input_width, row).largest_magnitude + margin;
  return {resolve(config_.dac, range_top(config_.dac, largest)), static_cast<float>(range_top(config_.adc, largest))};
}

void EquilibriumBlock::drive(const at::Tensor& inputs, const std::vector<Ranges>& ranges,
                             SettleReadout& readout) const {
  const std::int64_t width = spec_.input_width;
  readout.applied = at::empty_like(inputs);
  std::vector<float> buffer(static_cast<std::size_t>(padded_length(width)));
  for (std::int64_t r = 0; r < inputs.size(0); ++r) {
    const float* in = inputs.data_ptr<float>() + r * width;
    std::copy(in, in + width, buffer.begin());
    readout.saturated_inputs.push_back(row_kernels().convert_row(ranges[r].dac, width, buffer.data(), buffer.data()));
    std::copy(buffer.begin(), buffer.begin() + width, readout.applied.data_ptr<float>() + r * width);
  }
}

Relaxed EquilibriumBlock::relax_rows(const SettleRequest& request, const at::Tensor& applied,
                                     const std::vector<Ranges>& ranges) const {
  const RelaxationStart start{applied, request.start, request.push};
  Relaxed relaxed = relax(dynamics_, config_.relaxation, start, rates_);
  if (config_.dynamics_noise_fraction > 0) {
    // Noise keeps the residual up, so a noisy phase takes the time that it would need without.
    DynamicsNoise noise{at::empty({applied.size(0)}, at::kDouble),
                        RandomAt(seed_, stream_id("equilibrium noise") + request.slot.query_in_row, request.slot.step,
                                 request.slot.block),
                        static_cast<std::int64_t>(request.slot.first_row)};
    for (std::int64_t r = 0; r < applied.size(0); ++r) {
      noise.deviation.data_ptr<double>()[r] = config_.dynamics_noise_fraction * ranges[r].full_scale;
    }
    relaxed.state = relax_noisily(dynamics_, config_.relaxation, start, rates_, relaxed.steps, noise);
  }
  return relaxed;
}

ReadChain EquilibriumBlock::chain_at(const Ranges& range, double since_calibration_s) const {
  ReadChain chain;
  chain.gain =
      static_cast<float>(std::pow(1 + since_calibration_s / config_.drift.gain_t0_s, -config_.drift.gain_exponent));
  chain.sigma = static_cast<float>(config_.read_noise_fraction) * range.full_scale;
  chain.ramp = ramp_.empty() ? nullptr : ramp_.data();
  chain.adc = resolve(config_.adc, range.full_scale);
  return chain;
}

// As ActivationBlock's: a start that the caller gives is that of row 0, and "now" that of the batch's first row.
double EquilibriumBlock::since_calibration_s(const QuerySlot& slot, std::int64_t r, double latency_s) const {
  const bool is_now = slot.start_s < 0;
  const std::int64_t place = is_now ? r : r + static_cast<std::int64_t>(slot.first_row);
  const std::int64_t turn = place / config_.chip.parallel_rows * slot.queries_per_row + slot.query_in_row;
  const double time_s = (is_now ? clock_s() : slot.start_s) + static_cast<double>(turn) * latency_s;
  return std::fmod(time_s, config_.drift.calibration_period_s);
}

void EquilibriumBlock::read(const QuerySlot& slot, const std::vector<Ranges>& ranges, double latency_s,
                            SettleReadout& readout) const {
  const std::int64_t width = spec_.output_width;
  readout.values = at::zeros_like(readout.state);
  std::vector<float> buffer(static_cast<std::size_t>(padded_length(width)));
  for (std::int64_t r = 0; r < readout.state.size(0); ++r) {
    const double since_s = since_calibration_s(slot, r, latency_s);
    const ReadChain chain = chain_at(ranges[r], since_s);
    const auto drift = static_cast<float>(since_s) * ranges[r].full_scale;
    const float* in = readout.state.data_ptr<float>() + r * width;
    float* out = readout.values.data_ptr<float>() + r * width;
    std::int64_t saturated = 0;
    for (std::int64_t k = 0; k < config_.reads; ++k) {
      std::copy(in, in + width, buffer.begin());
      if (!chain.exact()) {
        const auto query = static_cast<std::uint32_t>((slot.first_row + r) * config_.reads + k);
        const DrawAddress address{random_key(seed_, stream_id("read noise equilibrium") + slot.query_in_row), query,
                                  slot.block, slot.step};
        saturated += row_kernels().read_pair(chain, address, {drift, drift}, width, buffer.data(), nullptr);
      }
      for (std::int64_t j = 0; j < width; ++j) out[j] += buffer[j] / static_cast<float>(config_.reads);
    }
    readout.saturated_outputs.push_back(saturated);
  }
}

void EquilibriumBlock::book(double time_constants, const SettleReadout& readout) {
  const std::int64_t rows = readout.state.size(0);
  const ChipConfig chip = relaxing_chip(config_.chip, time_constants);
  const ChipTotals totals = time_->serve({chip, query_timing(chip, shape()).latency_s(), {rows, 1}, {{shape(), rows}}});
  meter_.queries += totals.queries;
  meter_.dac_conversions += totals.dac_conversions;
  meter_.adc_conversions += totals.adc_conversions;
  for (const std::int64_t count : readout.saturated_inputs) meter_.saturated_inputs += count;
  for (const std::int64_t count : readout.saturated_outputs) meter_.saturated_outputs += count;
  meter_.energy += totals.energy;
  meter_.busy_s += static_cast<double>(totals.elapsed_ps) * 1e-12;
}

SettleReadout EquilibriumBlock::settle_exactly(const SettleRequest& request) {
  const RelaxationStart start{request.inputs, request.start, request.push};
  const Relaxed relaxed = relax(dynamics_, config_.relaxation, start, {});
  SettleReadout readout;
  readout.state = fixed_point(dynamics_, start).to(request.inputs.scalar_type());
  readout.values = readout.state;
  readout.applied = request.inputs;
  readout.steps = relaxed.steps;
  readout.residual = relaxed.residual;
  readout.settled = relaxed.settled;
  book(config_.relaxation.step * relaxed.steps.max().item<double>(), readout);
  return readout;
}

SettleReadout EquilibriumBlock::settle(const SettleRequest& given) {
  SettleRequest request = given;
  const std::int64_t rows = given.inputs.dim() == 2 ? given.inputs.size(0) : 0;
  request.inputs = checked(given.inputs, rows, "the inputs");
  if (given.start.defined()) request.start = checked(given.start, rows, "the start");
  if (given.push.defined()) request.push = checked(given.push, rows, "the push");
  if (ideal_) return settle_exactly(request);
  const at::Tensor points =
      given.range_point.defined() ? checked(given.range_point, rows, "the range point") : request.inputs;
  std::vector<Ranges> ranges;
  ranges.reserve(static_cast<std::size_t>(rows));
  for (std::int64_t r = 0; r < rows; ++r) {
    ranges.push_back(ranges_of(points.data_ptr<float>() + r * spec_.input_width, given.range_margin));
  }
  SettleReadout readout;
  drive(request.inputs, ranges, readout);
  const Relaxed relaxed = relax_rows(request, readout.applied, ranges);
  const double time_constants = config_.relaxation.step * relaxed.steps.max().item<double>();
  const double latency_s = query_timing(relaxing_chip(config_.chip, time_constants), shape()).latency_s();
  readout.state = relaxed.state.contiguous();
  readout.steps = relaxed.steps;
  readout.residual = relaxed.residual;
  readout.settled = relaxed.settled;
  read(request.slot, ranges, latency_s, readout);
  book(time_constants, readout);
  return readout;
}

Readout EquilibriumBlock::query(const QueryBatch& batch) {
  SettleRequest request;
  request.inputs = batch.inputs;
  request.slot = batch.slot;
  request.range_point = batch.range_point;
  request.range_margin = batch.range_margin;
  const SettleReadout settled = settle(request);
  if (!settled.settled.all().item<bool>()) {
    const auto row = settled.settled.logical_not().nonzero()[0].item<std::int64_t>();
    std::ostringstream message;
    message << "query " << batch.slot.first_row + row << " did not settle: after "
            << settled.steps[row].item<std::int64_t>() << " steps one still moves the state by "
            << settled.residual[row].item<double>()
            << " of it; a smaller dynamics.gain, more relaxation.most_steps or a larger tolerance may help";
    throw numerical_error("block equilibrium", message.str());
  }
  return {settled.values, settled.applied};
}

at::Tensor EquilibriumBlock::dac_step(const at::Tensor& range_point, double range_margin, std::int64_t) const {
  const at::Tensor points = checked(range_point, range_point.size(0), "the range point").to(at::kFloat);
  at::Tensor steps = at::empty({points.size(0)}, at::kFloat);
  for (std::int64_t r = 0; r < points.size(0); ++r) {
    steps.data_ptr<float>()[r] = ranges_of(points.data_ptr<float>() + r * spec_.input_width, range_margin).dac.step;
  }
  return steps;
}

at::Tensor EquilibriumBlock::readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t) {
  const at::Tensor points = checked(range_point, range_point.size(0), "the range point").to(at::kFloat);
  at::Tensor noise = at::empty({points.size(0)}, at::kFloat);
  for (std::int64_t r = 0; r < points.size(0); ++r) {
    const Ranges range = ranges_of(points.data_ptr<float>() + r * spec_.input_width, range_margin);
    const double sigma = config_.read_noise_fraction * range.full_scale;
    const double variance = sigma * sigma + conversion_variance(resolve(config_.adc, range.full_scale));
    noise.data_ptr<float>()[r] = static_cast<float>(std::sqrt(variance / static_cast<double>(config_.reads)));
  }
  return noise;
}

namespace {

std::unique_ptr<PhysicalBlock> make(const RawConfig& raw, const BlockRequest& request) {
  return std::make_unique<EquilibriumBlock>(read_config<EquilibriumConfig>(raw.value, raw.where), request);
}

BlockKind kind() {
  BlockKind kind = described_block<EquilibriumConfig>("network that relaxes to a fixed point and is read there", make);
  kind.has_own_network = true;
  return kind;
}

const Registration<BlockKind> registered("equilibrium", kind());

}  // namespace
}  // namespace zbphw
