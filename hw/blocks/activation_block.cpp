#include "hw/blocks/activation_block.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>
#include <utility>

#include "base/random.hpp"

namespace zbphw {
namespace {

// Rows that one task takes: enough to hide the cost of starting it.
constexpr std::int64_t rows_per_task = 16;

double range_top(const ConverterConfig& config, double largest, double margin) {
  return config.range == RangeSource::fixed ? config.full_scale : (largest + margin) * config.headroom;
}

int code_bits(const Bits& bits) { return bits.value_or(16); }

}  // namespace

ActivationBlock::ActivationBlock(BlockSpec spec, const ActivationBlockConfig& config, const BlockRequest& request)
    : spec_(std::move(spec)),
      config_(request.fidelity == Fidelity::ideal ? without_effects(config) : config),
      ideal_(request.fidelity == Fidelity::ideal),
      seed_(request.seed),
      dac_bits_(code_bits(config.dac.bits)),
      adc_bits_(code_bits(config.adc.bits)),
      time_(request.time ? request.time : analytic_chip_time()) {
  const QueryShape shape{spec_.input_width, spec_.output_width, spec_.output_width, dac_bits_, adc_bits_};
  latency_s_ = query_timing(config_.chip, shape).latency_s();
  if (config_.drift.offset_ramp_fraction_per_s > 0) {
    ramp_.resize(static_cast<std::size_t>(padded_length(spec_.output_width)));
    const RandomAt at(seed_, stream_id("offset ramp " + spec_.name));
    for (std::int64_t j = 0; j < spec_.output_width; ++j) {
      ramp_[j] =
          static_cast<float>(config_.drift.offset_ramp_fraction_per_s * at.normal(static_cast<std::uint32_t>(j)));
    }
  }
}

std::int64_t ActivationBlock::driven_inputs(std::int64_t row) const {
  return spec_.causal_period == 0 ? spec_.input_width : row % spec_.causal_period + 1;
}

std::int64_t ActivationBlock::read_outputs(std::int64_t row) const {
  return spec_.causal_period == 0 ? spec_.output_width : row % spec_.causal_period + 1;
}

// Four padded rows: input, output, range input, spare.
std::vector<float> ActivationBlock::make_buffers() const {
  return std::vector<float>(
      static_cast<std::size_t>(4 * padded_length(std::max(spec_.input_width, spec_.output_width))));
}

ActivationBlock::RowRange ActivationBlock::range_of(const float* point, std::int64_t row, double range_margin,
                                                    std::vector<float>& buffers) const {
  const std::int64_t inputs = driven_inputs(row);
  const RowExtent extent = row_kernels().extent(inputs, point);
  if (!extent.finite) {
    const auto bad = std::find_if(point, point + inputs, [](float v) { return !std::isfinite(v); }) - point;
    throw numerical_error("block " + spec_.name,
                          "input " + std::to_string(bad) + " of query " + std::to_string(row) + " is not finite");
  }
  RowRange range;
  range.dac = resolve(config_.dac, range_top(config_.dac, extent.largest_magnitude, range_margin));
  const std::size_t padded = buffers.size() / 4;
  float* in = buffers.data() + 2 * padded;
  row_kernels().convert_row(range.dac, inputs, point, in);
  // From the driven values, not the wanted ones: a DAC that clips may leave them far apart.
  const auto margin = static_cast<float>(range_margin);
  range.shift = row_kernels().extent(inputs, in).largest + margin;
  if (config_.adc.range == RangeSource::fixed) {
    range.full_scale = static_cast<float>(config_.adc.full_scale);
    return range;
  }
  const float reach = output_reach(inputs, read_outputs(row), range.shift, margin, in, in + padded);
  range.full_scale = static_cast<float>(range_top(config_.adc, reach, 0));
  return range;
}

ReadChain ActivationBlock::chain_at(const RowRange& range, double since_calibration_s) const {
  ReadChain chain;
  chain.gain =
      static_cast<float>(std::pow(1 + since_calibration_s / config_.drift.gain_t0_s, -config_.drift.gain_exponent));
  chain.sigma = static_cast<float>(config_.read_noise_fraction) * range.full_scale;
  chain.ramp = ramp_.empty() ? nullptr : ramp_.data();
  chain.adc = resolve(config_.adc, range.full_scale);
  return chain;
}

double ActivationBlock::since_calibration_s(const QuerySlot& slot, double start_s, std::int64_t row) const {
  // A sequence that starts now starts with its own first row; a start that the caller gives is that of row 0.
  const std::int64_t place = slot.start_s < 0 ? row - static_cast<std::int64_t>(slot.first_row) : row;
  const std::int64_t turn = place / config_.chip.parallel_rows;
  const double time_s = start_s + static_cast<double>(turn) * slot.queries_per_row * latency_s_;
  return std::fmod(time_s, config_.drift.calibration_period_s);
}

DrawAddress ActivationBlock::noise_address(const QuerySlot& slot, std::int64_t row) const {
  // Sequences of different lengths at one step are different uses of the block: they get keys of their own.
  const std::uint64_t stream = stream_id("read noise " + spec_.name) + slot.queries_per_row;
  const std::uint32_t pairs_per_row = (slot.queries_per_row + 1) / 2;
  const auto query = static_cast<std::uint32_t>(row * pairs_per_row + slot.query_in_row / 2);
  return {random_key(seed_, stream), query, slot.block, slot.step};
}

at::Tensor ActivationBlock::checked(const at::Tensor& tensor, std::int64_t width, const char* what) const {
  if (tensor.dim() != 2 || tensor.size(1) != width || tensor.size(0) == 0) {
    std::ostringstream shape;
    shape << tensor.sizes();
    throw config_error("block " + spec_.name, std::string(what) + " has shape " + shape.str() + "; expected [rows, " +
                                                  std::to_string(width) + "] with at least one row");
  }
  return tensor.detach().to(at::kCPU, at::kFloat).contiguous();
}

ActivationBlock::Saturation ActivationBlock::query_row(const QueryBatch& batch, std::int64_t row, double start_s,
                                                       const float* input, const float* range_point, float* applied,
                                                       float* value, std::vector<float>& buffers) const {
  const RowKernels& kernels = row_kernels();
  const std::int64_t inputs = driven_inputs(row);
  const std::int64_t outputs = read_outputs(row);
  const std::size_t padded = buffers.size() / 4;
  float* in = buffers.data();
  float* out = buffers.data() + padded;
  Saturation saturated;

  const RowRange range = range_of(range_point, row, batch.range_margin, buffers);
  saturated.inputs = kernels.convert_row(range.dac, inputs, input, in);
  std::copy(in, in + inputs, applied);
  transfer(inputs, range.shift, in, out);

  const double since_s = since_calibration_s(batch.slot, start_s, row);
  const ReadChain chain = chain_at(range, since_s);
  if (!chain.exact()) {
    const float drift = start_drift(range, since_s) + static_cast<float>(batch.slot.query_in_row) * drift_step(range);
    const bool second = batch.slot.query_in_row % 2 != 0;
    saturated.outputs = kernels.read_pair(chain, noise_address(batch.slot, row), {drift, drift}, outputs,
                                          second ? nullptr : out, second ? out : nullptr);
  }
  std::copy(out, out + outputs, value);
  return saturated;
}

void ActivationBlock::check_request(const QuerySlot& slot, const at::Tensor& rows, const at::Tensor& as_many,
                                    const char* what) const {
  if (rows.size(0) != as_many.size(0)) {
    throw config_error("block " + spec_.name, std::string(what) + " has " + std::to_string(as_many.size(0)) +
                                                  " rows for " + std::to_string(rows.size(0)) + " queried ones");
  }
  const std::uint32_t pairs_per_row = (slot.queries_per_row + 1) / 2;
  const double addresses = (double(slot.first_row) + double(rows.size(0))) * pairs_per_row;
  if (addresses > 0x1p32) {
    throw config_error("block " + spec_.name,
                       "one step asks for more queries than noise can be addressed for (2^33); use "
                       "fewer rows or probes a step");
  }
}

Readout ActivationBlock::query_exact(const QueryBatch& batch) {
  if (batch.inputs.dim() != 2 || batch.inputs.size(1) != spec_.input_width ||
      !batch.inputs.isfinite().all().item<bool>()) {
    throw config_error("block " + spec_.name,
                       "the inputs must be finite and [rows, " + std::to_string(spec_.input_width) + "]");
  }
  const at::Tensor inputs = batch.inputs.detach().contiguous();
  const std::int64_t rows = inputs.size(0);
  Readout readout{at::zeros({rows, spec_.output_width}, at::kDouble), inputs};
  for (std::int64_t r = 0; r < rows; ++r) {
    transfer_exact(driven_inputs(batch.slot.first_row + r), inputs.data_ptr<double>() + r * spec_.input_width,
                   readout.values.data_ptr<double>() + r * spec_.output_width);
  }
  book(batch.slot.first_row, rows, 1, 0, 0);
  return readout;
}

Readout ActivationBlock::query(const QueryBatch& batch) {
  if (ideal_ && batch.inputs.scalar_type() == at::kDouble) return query_exact(batch);
  const at::Tensor inputs = checked(batch.inputs, spec_.input_width, "the inputs");
  const at::Tensor points =
      batch.range_point.defined() ? checked(batch.range_point, spec_.input_width, "the range point") : inputs;
  check_request(batch.slot, inputs, points, "the range point");
  const std::int64_t rows = inputs.size(0);
  Readout readout{at::zeros({rows, spec_.output_width}, at::kFloat), at::zeros({rows, spec_.input_width}, at::kFloat)};
  const float* input = inputs.data_ptr<float>();
  const float* point = points.data_ptr<float>();
  float* value = readout.values.data_ptr<float>();
  float* applied = readout.applied.data_ptr<float>();
  const double start_s = sequence_start_s(batch.slot);
  std::atomic<std::int64_t> saturated_inputs{0};
  std::atomic<std::int64_t> saturated_outputs{0};
  at::parallel_for(0, rows, rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> buffers = make_buffers();
    for (std::int64_t r = begin; r < end; ++r) {
      const Saturation saturated = query_row(batch, batch.slot.first_row + r, start_s, input + r * spec_.input_width,
                                             point + r * spec_.input_width, applied + r * spec_.input_width,
                                             value + r * spec_.output_width, buffers);
      saturated_inputs += saturated.inputs;
      saturated_outputs += saturated.outputs;
    }
  });
  book(batch.slot.first_row, rows, 1, saturated_inputs, saturated_outputs);
  return readout;
}

void ActivationBlock::book(std::int64_t first_row, std::int64_t rows, std::int64_t queries_per_row,
                           std::int64_t saturated_inputs, std::int64_t saturated_outputs) {
  ChipBatch batch{config_.chip, latency_s_, {rows, queries_per_row}, {}};
  // Rows of equal length cost the same: with causal rows there are at most causal_period lengths.
  const std::int64_t lengths = spec_.causal_period == 0 ? 1 : spec_.causal_period;
  for (std::int64_t length = 0; length < lengths; ++length) {
    const std::int64_t first = first_row % lengths;
    const std::int64_t count = (rows + lengths - 1 - (length - first + lengths) % lengths) / lengths * queries_per_row;
    const QueryShape shape{driven_inputs(length), read_outputs(length), read_outputs(length), dac_bits_, adc_bits_};
    if (count > 0) batch.groups.push_back({shape, count});
  }
  const ChipTotals totals = time_->serve(batch);
  meter_.queries += totals.queries;
  meter_.dac_conversions += totals.dac_conversions;
  meter_.adc_conversions += totals.adc_conversions;
  meter_.energy += totals.energy;
  meter_.saturated_inputs += saturated_inputs;
  meter_.saturated_outputs += saturated_outputs;
  meter_.busy_s += static_cast<double>(totals.elapsed_ps) * 1e-12;
}

at::Tensor ActivationBlock::dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const {
  return for_each_row(range_point, [&](const float* point, std::int64_t r, std::vector<float>&) {
    const float largest = row_kernels().extent(driven_inputs(first_row + r), point).largest_magnitude;
    return resolve(config_.dac, range_top(config_.dac, largest, range_margin)).step;
  });
}

at::Tensor ActivationBlock::readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) {
  return for_each_row(range_point, [&](const float* point, std::int64_t r, std::vector<float>& buffers) {
    const ReadChain chain = chain_at(range_of(point, first_row + r, range_margin, buffers), 0);
    const double variance = double(chain.sigma) * chain.sigma + conversion_variance(chain.adc);
    return static_cast<float>(std::sqrt(variance));
  });
}

at::Tensor ActivationBlock::for_each_row(
    const at::Tensor& range_point,
    const std::function<float(const float* point, std::int64_t row, std::vector<float>& buffers)>& value_of) const {
  const at::Tensor points = checked(range_point, spec_.input_width, "the range point");
  at::Tensor values = at::empty({points.size(0)}, at::kFloat);
  const float* point = points.data_ptr<float>();
  float* value = values.data_ptr<float>();
  at::parallel_for(0, points.size(0), rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    std::vector<float> buffers = make_buffers();
    for (std::int64_t r = begin; r < end; ++r) value[r] = value_of(point + r * spec_.input_width, r, buffers);
  });
  return values;
}

}  // namespace zbphw
