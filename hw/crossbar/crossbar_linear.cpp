#include "hw/crossbar/crossbar_linear.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"

namespace zbphw {
namespace {

// Query rows that one task takes.
constexpr std::int64_t rows_per_task = 8;

int code_bits(const Bits& bits) { return bits.value_or(16); }

double largest_magnitude(const float* values, std::int64_t count) {
  return row_kernels().extent(count, values).largest_magnitude;
}

// The same steps without ends that anything reaches: the codes go on for eight ranges on both sides.
Quantiser endless(Quantiser q) {
  const float more = 8 * (q.last_code + 1);
  q.origin -= more * q.step;
  q.last_code += 2 * more;
  return q;
}

Quantiser quantiser_of(const ConverterConfig& config, double top, bool wanted, bool saturates) {
  if (!wanted) return {};
  const Quantiser q = resolve(config, top);
  return saturates || q.ideal ? q : endless(q);
}

at::Tensor normal_inputs(std::int64_t rows, std::int64_t width, std::uint64_t seed) {
  at::Tensor inputs = at::empty({rows, width}, at::kFloat);
  for (std::int64_t r = 0; r < rows; ++r) {
    const DrawAddress address{random_key(seed, stream_id("crossbar calibration")), static_cast<std::uint32_t>(r), 0, 0};
    std::vector<float> padded(static_cast<std::size_t>(padded_length(width)));
    row_kernels().normal_row(address, width, padded.data());
    std::copy_n(padded.data(), width, inputs.data_ptr<float>() + r * width);
  }
  return inputs;
}

// Queries of one run, numbered.
std::uint32_t query_number(const QuerySlot& slot, std::int64_t row) {
  return static_cast<std::uint32_t>((slot.first_row + row) * slot.queries_per_row + slot.query_in_row);
}

// Runs that ask several queries for each row draw elsewhere than those that ask one.
std::uint64_t row_stream(std::string_view purpose, const QuerySlot& slot) {
  return mix64(stream_id(purpose)) + (static_cast<std::uint64_t>(slot.queries_per_row) << 32);
}

}  // namespace

CrossbarLinear::CrossbarLinear(const CrossbarConfig& config, const CrossbarRequest& request)
    : config_(config),
      effects_(request.effects),
      seed_(request.seed),
      arrays_(config, request.inputs, request.outputs, request.seed, request.effects) {
  spec_ = {"crossbar_linear", request.inputs, request.outputs, Locality::dense, 0};
  const std::int64_t adcs = (request.outputs + config_.chip.adc.columns_per_adc - 1) / config_.chip.adc.columns_per_adc;
  saturated_by_adc_.assign(arrays_.groups().size(), std::vector<std::int64_t>(static_cast<std::size_t>(adcs)));
  adc_full_scale_.assign(arrays_.groups().size(), config_.adc.full_scale);
  calibration_inputs_ = checked(normal_inputs(config_.calibration_queries, request.inputs, seed_), "calibration");
  clock_s_ = first_time_s();
  latency_s_ = query_timing(config_.chip, query_shape()).latency_s();
}

QueryShape CrossbarLinear::query_shape() const {
  QueryShape shape;
  shape.inputs = spec_.input_width;
  shape.outputs = spec_.output_width;
  shape.cells = 2 * spec_.input_width * spec_.output_width * config_.mapping.slices;
  shape.dac_bits = code_bits(config_.dac.bits);
  shape.adc_bits = code_bits(config_.adc.bits);
  shape.partial_sums = static_cast<std::int64_t>(arrays_.groups().size());
  shape.input_slices = count_input_slices(shape.dac_bits, config_.input_slice_bits);
  return shape;
}

void CrossbarLinear::program(const at::Tensor& weights) {
  arrays_.program(weights, !effects_.programming);
  calibration_is_stale_ = false;
  meter_.busy_s += arrays_.report().time_s;
  meter_.energy.programming_j += arrays_.report().energy_j;
  clock_s_ = first_time_s();
  reference_signal_ = 0;
  load_state(clock_s_);
  calibrate(calibration_inputs_.values);
}

void CrossbarLinear::calibrate(const at::Tensor& inputs) {
  calibration_inputs_ = checked(inputs, "the calibration inputs");
  const double now_s = arrays_.loaded_s();
  if (now_s != first_time_s()) load_state(first_time_s());
  if (config_.dac.range == RangeSource::calibrated) {
    const std::vector<float>& largest = calibration_inputs_.largest;
    calibrated_dac_top_ = config_.dac.headroom * *std::max_element(largest.begin(), largest.end());
  }
  // The run is that of the device as it is, whichever converter is switched off at the moment.
  const CrossbarEffects asked = effects_;
  effects_.dac = effects_.saturation = true;
  const Drive driven = drive(calibration_inputs_.values, calibration_inputs_, 0, {});
  effects_ = asked;
  for (std::size_t g = 0; config_.adc.range == RangeSource::calibrated && g < adc_full_scale_.size(); ++g) {
    const ArrayGroup& group = arrays_.groups()[g];
    double largest = 0;
    for (const at::Tensor& slice : driven.slices.values) {
      const at::Tensor currents = arrays_.currents_us(g, slice.narrow(1, group.first_input, group.inputs));
      for (std::int64_t r = 0; r < currents.size(0); ++r) {
        if (driven.tops[r] == 0) continue;
        const float* row = currents.data_ptr<float>() + r * spec_.output_width;
        largest = std::max(largest, largest_magnitude(row, spec_.output_width) / driven.tops[r]);
      }
    }
    adc_full_scale_[g] = config_.adc.headroom * largest;
  }
  reference_signal_ = calibration_signal();
  set_drift_scale(1);
  if (now_s != first_time_s()) load_state(now_s);
}

// The summed magnitude of all column currents over the calibration run: what drift takes away from every output alike.
// The run averages many reads, so its own noise is left out.
double CrossbarLinear::calibration_signal() {
  double signal = 0;
  for (std::size_t g = 0; g < arrays_.groups().size(); ++g) {
    const ArrayGroup& group = arrays_.groups()[g];
    const at::Tensor inputs = calibration_inputs_.values.narrow(1, group.first_input, group.inputs);
    signal += group.slice_weight * arrays_.currents_us(g, inputs).abs().sum(at::kDouble).item<double>();
  }
  return signal;
}

void CrossbarLinear::load_state(double t_s) {
  arrays_.load(t_s, effects_);
  state_is_stale_ = false;
  const bool compensates = config_.drift_compensation && reference_signal_ > 0;
  const double signal = compensates ? calibration_signal() : 0;
  set_drift_scale(signal > 0 ? reference_signal_ / signal : 1);
}

void CrossbarLinear::set_drift_scale(double scale) { output_scale_ = arrays_.weight_per_us() * scale; }

// The state that queries at t_s see.
void CrossbarLinear::renew_state(double t_s, double tolerance_s) {
  const double wanted_s = effects_.drift ? t_s : first_time_s();
  if (calibration_is_stale_) {
    calibration_is_stale_ = false;
    load_state(first_time_s());
    calibrate(calibration_inputs_.values);
  }
  if (state_is_stale_ || std::abs(wanted_s - arrays_.loaded_s()) > tolerance_s) load_state(wanted_s);
}

void CrossbarLinear::age_to(double t_s) {
  if (arrays_.programmed()) renew_state(t_s, 0);
  clock_s_ = t_s;
}

void CrossbarLinear::set_effects(const CrossbarEffects& effects) {
  const bool currents_change = (config_.lines && effects.line_resistance != effects_.line_resistance) ||
                               effects.column_mismatch != effects_.column_mismatch;
  calibration_is_stale_ = calibration_is_stale_ || currents_change;
  state_is_stale_ = state_is_stale_ || currents_change || effects.drift != effects_.drift;
  effects_ = effects;
}

CrossbarLinear::PortRows CrossbarLinear::checked(const at::Tensor& tensor, const char* what) const {
  if (tensor.dim() != 2 || tensor.size(1) != spec_.input_width || tensor.size(0) == 0) {
    std::ostringstream shape;
    shape << what << " of shape " << tensor.sizes() << "; expected [rows, " << spec_.input_width
          << "] with at least one row";
    throw config_error("block " + spec_.name, shape.str());
  }
  PortRows rows{tensor.detach().to(at::kCPU, at::kFloat).contiguous(), {}};
  for (std::int64_t r = 0; r < rows.values.size(0); ++r) {
    const float* row = rows.values.data_ptr<float>() + r * spec_.input_width;
    const RowExtent extent = row_kernels().extent(spec_.input_width, row);
    rows.largest.push_back(extent.largest_magnitude);
    if (extent.finite) continue;
    const float* bad = std::find_if(row, row + spec_.input_width, [](float v) { return !std::isfinite(v); });
    throw numerical_error("block " + spec_.name,
                          "input " + std::to_string(bad - row) + " of query " + std::to_string(r) + " is not finite");
  }
  return rows;
}

double CrossbarLinear::dac_top(double largest, double margin) const {
  switch (config_.dac.range) {
    case RangeSource::fixed:
      return config_.dac.full_scale;
    case RangeSource::calibrated:
      return calibrated_dac_top_;
    case RangeSource::per_input:
      break;
  }
  return (largest + margin) * config_.dac.headroom;
}

Quantiser CrossbarLinear::dac_at(double top) const {
  return quantiser_of(config_.dac, top, effects_.dac, effects_.saturation);
}

CrossbarLinear::Drive CrossbarLinear::drive(const at::Tensor& inputs, const PortRows& points, double margin,
                                            const QuerySlot& slot) const {
  const PhiloxKey dither = random_key(seed_, row_stream("crossbar dac dither", slot));
  Drive result;
  result.applied = at::empty_like(inputs);
  at::Tensor coded = effects_.dac || config_.input_slice_bits == 0 ? result.applied : at::empty_like(inputs);
  for (std::int64_t r = 0; r < inputs.size(0); ++r) {
    const std::int64_t first = r * spec_.input_width;
    result.tops.push_back(dac_top(points.largest[r], margin));
    const float* input = inputs.data_ptr<float>() + first;
    const DrawAddress address{dither, query_number(slot, r), slot.block, slot.step};
    result.saturated.push_back(row_kernels().convert_row_dithered(
        dac_at(result.tops.back()), address, spec_.input_width, input, result.applied.data_ptr<float>() + first));
    if (coded.is_same(result.applied)) continue;
    const Quantiser coder = quantiser_of(config_.dac, result.tops.back(), true, false);
    row_kernels().convert_row(coder, spec_.input_width, input, coded.data_ptr<float>() + first);
  }
  result.slices =
      slice_inputs(coded, result.applied, result.tops, code_bits(config_.dac.bits), config_.input_slice_bits);
  return result;
}

// Noise of the DACs on what drives the arrays: every slice is driven anew.
void CrossbarLinear::add_input_noise(const QuerySlot& slot, Drive& driven) const {
  const std::int64_t width = spec_.input_width;
  std::vector<float> normal(static_cast<std::size_t>(padded_length(width)));
  for (std::size_t s = 0; s < driven.slices.values.size(); ++s) {
    const PhiloxKey key = random_key(seed_, row_stream("crossbar input noise", slot) + s);
    at::Tensor noisy = driven.slices.values[s].clone();  // the first slice may be what `applied` reports
    for (std::int64_t r = 0; r < noisy.size(0); ++r) {
      row_kernels().normal_row({key, query_number(slot, r), slot.block, slot.step}, width, normal.data());
      const auto deviation = static_cast<float>(config_.input_noise_fraction * driven.tops[r]);
      float* row = noisy.data_ptr<float>() + r * width;
      for (std::int64_t j = 0; j < width; ++j) row[j] += deviation * normal[j];
    }
    driven.slices.values[s] = noisy;
  }
}

CrossbarLinear::RowRead CrossbarLinear::row_read(std::size_t group, double top, const float* currents) const {
  const bool per_input = config_.adc.range == RangeSource::per_input;
  const double full_scale =
      per_input ? config_.adc.headroom * largest_magnitude(currents, spec_.output_width) : adc_full_scale_[group] * top;
  const double output_noise = effects_.read_noise ? config_.output_noise_fraction * full_scale : 0;
  RowRead read{quantiser_of(config_.adc, full_scale, effects_.adc, effects_.saturation), 0, full_scale};
  const double comparator_noise = effects_.comparator_noise ? config_.comparator_noise_steps * read.adc.step : 0;
  read.base_variance = static_cast<float>(output_noise * output_noise + comparator_noise * comparator_noise);
  return read;
}

// Query number n of the run (its row and its place in the row's sequence) shares its draws with n ^ 1: the two are read
// together when both are here.
void CrossbarLinear::read_group(std::size_t group, std::size_t input_slice, const QuerySlot& slot,
                                const std::vector<double>& tops, const at::Tensor& variance, at::Tensor& currents) {
  const std::int64_t outputs = spec_.output_width;
  float* current = currents.data_ptr<float>();
  const float* variances = variance.defined() ? variance.data_ptr<float>() : nullptr;
  const float* offsets = effects_.column_mismatch && config_.column_mismatch.offset_spread_fraction > 0
                             ? arrays_.groups()[group].column_offset_fraction.data_ptr<float>()
                             : nullptr;
  const PhiloxKey key = random_key(seed_, row_stream("crossbar read noise", slot) + group + (input_slice << 24));
  std::vector<std::int64_t>& by_adc = saturated_by_adc_[group];
  std::mutex merging;
  at::parallel_for(0, currents.size(0), rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint8_t> beyond[2] = {std::vector<std::uint8_t>(outputs), std::vector<std::uint8_t>(outputs)};
    std::vector<std::int64_t> by_output(static_cast<std::size_t>(outputs));
    std::int64_t count = 0;
    for (std::int64_t r = begin; r < end;) {
      const std::uint32_t number = query_number(slot, r);
      const int together = number % 2 == 0 && slot.queries_per_row == 1 && r + 1 < end ? 2 : 1;
      ArrayRead reads[2];
      for (int k = 0; k < together; ++k) {
        float* values = current + (r + k) * outputs;
        const RowRead row = row_read(group, tops[r + k], values);
        const auto full_scale = static_cast<float>(row.full_scale);
        for (std::int64_t o = 0; offsets != nullptr && o < outputs; ++o) values[o] += offsets[o] * full_scale;
        reads[k] = {values, variances == nullptr ? nullptr : variances + (r + k) * outputs, row.base_variance,
                    beyond[k].data(), row.adc};
      }
      const DrawAddress address{key, number / 2, slot.block, slot.step};
      const ArrayRead* first = number % 2 == 0 ? &reads[0] : nullptr;
      const ArrayRead* second = together == 2 ? &reads[1] : (first == nullptr ? &reads[0] : nullptr);
      const std::int64_t here = row_kernels().read_array_pair(address, outputs, first, second);
      count += here;
      for (int k = 0; here > 0 && k < together; ++k) {
        for (std::int64_t o = 0; o < outputs; ++o) by_output[o] += beyond[k][o];
        saturated_outputs_by_row_[r + k] += std::accumulate(beyond[k].begin(), beyond[k].end(), std::int64_t{0});
      }
      r += together;
    }
    if (count == 0) return;
    const std::lock_guard<std::mutex> lock(merging);
    for (std::int64_t o = 0; o < outputs; ++o) by_adc[o / config_.chip.adc.columns_per_adc] += by_output[o];
  });
}

Readout CrossbarLinear::query(const QueryBatch& batch) {
  if (!arrays_.programmed()) throw device_error("block " + spec_.name, "was asked before it was programmed");
  const PortRows inputs = checked(batch.inputs, "inputs");
  const PortRows points = batch.range_point.defined() ? checked(batch.range_point, "the range point") : inputs;
  const double now_s = batch.slot.start_s < 0 ? clock_s_ : batch.slot.start_s;
  renew_state(now_s, config_.state_refresh_s);
  Drive driven = drive(inputs.values, points, batch.range_margin, batch.slot);
  if (effects_.input_noise && config_.input_noise_fraction > 0) add_input_noise(batch.slot, driven);
  saturated_inputs_by_row_ = driven.saturated;
  saturated_outputs_by_row_.assign(driven.tops.size(), 0);
  Readout readout;
  readout.applied = driven.applied;
  for (std::size_t s = 0; s < driven.slices.values.size(); ++s) {
    const at::Tensor& slice = driven.slices.values[s];
    const at::Tensor squares = effects_.read_noise ? slice.square() : at::Tensor();
    for (std::size_t g = 0; g < arrays_.groups().size(); ++g) {
      const ArrayGroup& group = arrays_.groups()[g];
      at::Tensor currents = arrays_.currents_us(g, slice.narrow(1, group.first_input, group.inputs));
      at::Tensor variance;
      if (effects_.read_noise)
        variance = at::mm(squares.narrow(1, group.first_input, group.inputs), group.variance_us2);
      read_group(g, s, batch.slot, driven.tops, variance, currents);
      const float weight = driven.slices.weights[s] * group.slice_weight;
      const bool first = s == 0 && g == 0;
      if (weight != 1) currents.mul_(weight);
      readout.values = first ? currents : readout.values.add_(currents);
    }
  }
  readout.values.mul_(output_scale_);
  book(inputs.values.size(0));
  return readout;
}

void CrossbarLinear::book(std::int64_t rows) {
  const QueryShape shape = query_shape();
  meter_.queries += rows;
  meter_.dac_conversions += rows * shape.dac_conversions();
  meter_.adc_conversions += rows * shape.adc_conversions();
  for (const std::int64_t count : saturated_inputs_by_row_) meter_.saturated_inputs += count;
  for (const std::int64_t count : saturated_outputs_by_row_) meter_.saturated_outputs += count;
  meter_.energy += query_energy(config_.chip, shape).scaled(static_cast<double>(rows));
  const double duration_s = batch_duration_s(config_.chip, latency_s_, rows, 1);
  meter_.busy_s += duration_s;
  clock_s_ += duration_s;
}

at::Tensor CrossbarLinear::dac_step(const at::Tensor& range_point, double range_margin, std::int64_t) const {
  const PortRows points = checked(range_point, "the range point");
  at::Tensor steps = at::empty({points.values.size(0)}, at::kFloat);
  for (std::int64_t r = 0; r < points.values.size(0); ++r) {
    const double top = dac_top(points.largest[r], range_margin);
    steps.data_ptr<float>()[r] = dac_at(top).step;
  }
  return steps;
}

at::Tensor CrossbarLinear::readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t) {
  const PortRows points = checked(range_point, "the range point");
  const Drive driven = drive(points.values, points, range_margin, {});
  at::Tensor total = at::zeros({points.values.size(0), spec_.output_width}, at::kFloat);
  double slice_power = 0;  // what noise of one slice's drive counts in all of them
  for (std::size_t s = 0; s < driven.slices.values.size(); ++s) {
    slice_power += std::pow(driven.slices.weights[s], 2);
    for (std::size_t g = 0; g < arrays_.groups().size(); ++g) {
      const ArrayGroup& group = arrays_.groups()[g];
      const at::Tensor part = driven.slices.values[s].narrow(1, group.first_input, group.inputs);
      const at::Tensor currents = arrays_.currents_us(g, part);
      at::Tensor variance = at::zeros_like(currents);
      if (effects_.read_noise) variance += at::mm(part.square(), group.variance_us2);
      for (std::int64_t r = 0; r < points.values.size(0); ++r) {
        const RowRead read = row_read(g, driven.tops[r], currents.data_ptr<float>() + r * spec_.output_width);
        variance.select(0, r).add_(read.base_variance + conversion_variance(read.adc));
      }
      const float weight = driven.slices.weights[s] * group.slice_weight;
      total.add_(variance, weight * weight);
    }
  }
  if (effects_.input_noise && config_.input_noise_fraction > 0) {
    const at::Tensor tops = at::tensor(driven.tops, at::kDouble).to(at::kFloat) * config_.input_noise_fraction;
    total.add_(at::outer(tops.square(), arrays_.squared_column_norm()), slice_power);
  }
  return (total * output_scale_ * output_scale_).mean(1).sqrt();
}

}  // namespace zbphw
