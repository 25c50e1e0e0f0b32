#include "hw/crossbar/crossbar_linear.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <sstream>
#include <utility>

#include "base/error.hpp"
#include "base/random.hpp"
#include "device_models/cells/make_cell.hpp"

namespace zbphw {
namespace {

// Query rows that one task takes.
constexpr std::int64_t rows_per_task = 8;

int code_bits(const Bits& bits) { return bits.value_or(16); }

double largest_magnitude(const float* values, std::int64_t count) {
  float largest = 0;
  for (std::int64_t j = 0; j < count; ++j) largest = std::max(largest, std::abs(values[j]));
  return largest;
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

}  // namespace

CrossbarLinear::CrossbarLinear(const CrossbarConfig& config, const CrossbarRequest& request)
    : config_(config), effects_(request.effects), seed_(request.seed), cell_(make_cell(config.cell)) {
  spec_ = {"crossbar_linear", request.inputs, request.outputs, Locality::dense, 0};
  if (request.inputs < 1 || request.outputs < 1) {
    throw config_error("crossbar", "a matrix of " + std::to_string(request.inputs) + " inputs and " +
                                       std::to_string(request.outputs) + " outputs; at least one of each");
  }
  for (const TilePlace& place : place_tiles(request.inputs, request.outputs, config_.tile_rows, config_.tile_columns)) {
    tiles_.emplace_back(cell_, place, seed_);
    if (place.first_output != 0) continue;
    TileRow row;
    row.first_input = place.first_input;
    row.inputs = place.inputs;
    row.current_us = at::zeros({place.inputs, request.outputs}, at::kFloat);
    row.variance_us2 = at::zeros({place.inputs, request.outputs}, at::kFloat);
    row.noise_stream = mix64(stream_id("crossbar read noise")) + tile_rows_.size();
    tile_rows_.push_back(row);
  }
  const std::int64_t adcs = (request.outputs + config_.chip.adc.columns_per_adc - 1) / config_.chip.adc.columns_per_adc;
  saturated_by_adc_.assign(tile_rows_.size(), std::vector<std::int64_t>(static_cast<std::size_t>(adcs)));
  calibration_inputs_ = normal_inputs(config_.calibration_queries, request.inputs, seed_);
  clock_s_ = state_s_ = first_time_s();
  latency_s_ = query_timing(config_.chip, query_shape()).latency_s();
}

QueryShape CrossbarLinear::query_shape() const {
  QueryShape shape;
  shape.inputs = spec_.input_width;
  shape.outputs = spec_.output_width;
  shape.cells = 2 * spec_.input_width * spec_.output_width;
  shape.dac_bits = code_bits(config_.dac.bits);
  shape.adc_bits = code_bits(config_.adc.bits);
  shape.partial_sums = static_cast<std::int64_t>(tile_rows_.size());
  return shape;
}

void CrossbarLinear::program(const at::Tensor& weights) {
  if (weights.dim() != 2 || weights.size(0) != spec_.output_width || weights.size(1) != spec_.input_width) {
    std::ostringstream shapes;
    shapes << "weights of shape " << weights.sizes() << "; expected [" << spec_.output_width << ", "
           << spec_.input_width << "]";
    throw config_error("block " + spec_.name, shapes.str());
  }
  targets_ = map_weights(config_.mapping, weights, cell_->g_min_us(), cell_->g_max_us());
  programming_ = {};
  for (ProgrammedTile& tile : tiles_) {
    programming_ += tile.program(targets_, config_.write_verify, writes_, !effects_.programming);
  }
  ++writes_;
  const ProgrammingCostConfig& cost = config_.programming;
  const std::int64_t turns = (programming_.writes + cost.parallel_writes - 1) / cost.parallel_writes;
  programming_.time_s = static_cast<double>(turns) * cost.write_ns * 1e-9;
  programming_.energy_j = static_cast<double>(programming_.writes) * cost.energy_pj_per_write * 1e-12;
  meter_.busy_s += programming_.time_s;
  meter_.energy.programming_j += programming_.energy_j;
  const std::vector<float> scale(targets_.weight_per_us.begin(), targets_.weight_per_us.end());
  output_scale_ = at::from_blob(const_cast<float*>(scale.data()), {spec_.output_width}, at::kFloat).clone();
  clock_s_ = first_time_s();
  reference_signal_ = 0;
  load_state(clock_s_);
  calibrate(calibration_inputs_);
}

void CrossbarLinear::calibrate(const at::Tensor& inputs) {
  calibration_inputs_ = checked(inputs, "the calibration inputs");
  const double now_s = state_s_;
  if (now_s != first_time_s()) load_state(first_time_s());
  if (config_.dac.range == RangeSource::calibrated) {
    calibrated_dac_top_ =
        config_.dac.headroom * largest_magnitude(calibration_inputs_.data_ptr<float>(), calibration_inputs_.numel());
  }
  const std::vector<double> tops = dac_tops(calibration_inputs_, 0);
  std::int64_t ignored = 0;
  const at::Tensor applied = converted(calibration_inputs_, tops, &ignored);
  for (TileRow& tiles : tile_rows_) {
    tiles.adc_full_scale = config_.adc.full_scale;
    if (config_.adc.range != RangeSource::calibrated) continue;
    const at::Tensor currents = at::mm(applied.narrow(1, tiles.first_input, tiles.inputs), tiles.current_us);
    double largest = 0;
    for (std::int64_t r = 0; r < currents.size(0); ++r) {
      if (tops[r] == 0) continue;
      const float* row = currents.data_ptr<float>() + r * spec_.output_width;
      largest = std::max(largest, largest_magnitude(row, spec_.output_width) / tops[r]);
    }
    tiles.adc_full_scale = config_.adc.headroom * largest;
  }
  reference_signal_ = calibration_signal();
  if (now_s != first_time_s()) load_state(now_s);
}

// The summed magnitude of all column currents over the calibration run: what drift takes away from every output alike.
// The run averages many reads, so its own noise is left out.
double CrossbarLinear::calibration_signal() const {
  double signal = 0;
  for (const TileRow& tiles : tile_rows_) {
    const at::Tensor inputs = calibration_inputs_.narrow(1, tiles.first_input, tiles.inputs);
    signal += at::mm(inputs, tiles.current_us).abs().sum(at::kDouble).item<double>();
  }
  return signal;
}

void CrossbarLinear::load_state(double t_s) {
  const std::optional<LineResistance> lines = effects_.line_resistance ? config_.lines : std::nullopt;
  for (const ProgrammedTile& tile : tiles_) {
    const TilePlace& place = tile.place();
    const CellPairs conductance = tile.conductance_us(t_s);
    const CellPairs deviation = tile.read_deviation_us(conductance, t_s);
    const std::vector<double> current = effective_us(place, conductance, lines);
    TileRow& row = tile_rows_[static_cast<std::size_t>(place.first_input / config_.tile_rows)];
    float* current_out = row.current_us.data_ptr<float>();
    float* variance_out = row.variance_us2.data_ptr<float>();
    for (std::int64_t i = 0; i < place.inputs; ++i) {
      for (std::int64_t o = 0; o < place.outputs; ++o) {
        const std::int64_t from = i * place.outputs + o;
        const std::int64_t to = i * spec_.output_width + place.first_output + o;
        current_out[to] = static_cast<float>(current[from]);
        variance_out[to] = static_cast<float>(deviation.plus[from] * deviation.plus[from] +
                                              deviation.minus[from] * deviation.minus[from]);
      }
    }
  }
  state_s_ = t_s;
  const bool compensates = config_.drift_compensation && reference_signal_ > 0;
  const double signal = compensates ? calibration_signal() : 0;
  drift_scale_ = signal > 0 ? reference_signal_ / signal : 1;
}

void CrossbarLinear::refresh_state(double t_s) {
  if (effects_.drift && std::abs(t_s - state_s_) > config_.state_refresh_s) load_state(t_s);
}

void CrossbarLinear::age_to(double t_s) {
  const double state_s = effects_.drift ? t_s : first_time_s();
  if (state_s != state_s_) load_state(state_s);
  clock_s_ = t_s;
}

void CrossbarLinear::set_effects(const CrossbarEffects& effects) {
  const bool lines_change = config_.lines && effects.line_resistance != effects_.line_resistance;
  const bool drift_changes = effects.drift != effects_.drift;
  effects_ = effects;
  if (writes_ == 0 || (!lines_change && !drift_changes)) return;
  load_state(effects_.drift ? clock_s_ : first_time_s());
}

at::Tensor CrossbarLinear::checked(const at::Tensor& tensor, const char* what) const {
  if (tensor.dim() != 2 || tensor.size(1) != spec_.input_width || tensor.size(0) == 0) {
    std::ostringstream shape;
    shape << what << " of shape " << tensor.sizes() << "; expected [rows, " << spec_.input_width
          << "] with at least one row";
    throw config_error("block " + spec_.name, shape.str());
  }
  const at::Tensor values = tensor.detach().to(at::kCPU, at::kFloat).contiguous();
  const float* value = values.data_ptr<float>();
  for (std::int64_t k = 0; k < values.numel(); ++k) {
    if (std::isfinite(value[k])) continue;
    throw numerical_error("block " + spec_.name, "input " + std::to_string(k % spec_.input_width) + " of query " +
                                                     std::to_string(k / spec_.input_width) + " is not finite");
  }
  return values;
}

double CrossbarLinear::dac_top(const float* point, double margin) const {
  switch (config_.dac.range) {
    case RangeSource::fixed:
      return config_.dac.full_scale;
    case RangeSource::calibrated:
      return calibrated_dac_top_;
    case RangeSource::per_input:
      break;
  }
  return (largest_magnitude(point, spec_.input_width) + margin) * config_.dac.headroom;
}

Quantiser CrossbarLinear::dac_at(double top) const {
  return quantiser_of(config_.dac, top, effects_.dac, effects_.saturation);
}

std::vector<double> CrossbarLinear::dac_tops(const at::Tensor& points, double margin) const {
  std::vector<double> tops(static_cast<std::size_t>(points.size(0)));
  for (std::size_t r = 0; r < tops.size(); ++r) {
    tops[r] = dac_top(points.data_ptr<float>() + static_cast<std::int64_t>(r) * spec_.input_width, margin);
  }
  return tops;
}

at::Tensor CrossbarLinear::converted(const at::Tensor& inputs, const std::vector<double>& tops,
                                     std::int64_t* saturated) const {
  at::Tensor applied = at::empty_like(inputs);
  for (std::int64_t r = 0; r < inputs.size(0); ++r) {
    *saturated +=
        row_kernels().convert_row(dac_at(tops[r]), spec_.input_width, inputs.data_ptr<float>() + r * spec_.input_width,
                                  applied.data_ptr<float>() + r * spec_.input_width);
  }
  return applied;
}

CrossbarLinear::RowRead CrossbarLinear::row_read(const TileRow& tiles, double top, const float* currents) const {
  const bool per_input = config_.adc.range == RangeSource::per_input;
  const double full_scale =
      per_input ? config_.adc.headroom * largest_magnitude(currents, spec_.output_width) : tiles.adc_full_scale * top;
  const double output_noise = effects_.read_noise ? config_.output_noise_fraction * full_scale : 0;
  return {quantiser_of(config_.adc, full_scale, effects_.adc, effects_.saturation),
          static_cast<float>(output_noise * output_noise)};
}

// Reads one row of tiles in place; returns the number of saturated conversions. Query number n of the run (its row and
// its place in the row's sequence) shares its draws with n ^ 1: the two are read together when both are here.
std::int64_t CrossbarLinear::read_tile_row(std::size_t which, const QuerySlot& slot, const std::vector<double>& tops,
                                           const at::Tensor& variance, at::Tensor& currents) {
  const TileRow& tiles = tile_rows_[which];
  const std::int64_t outputs = spec_.output_width;
  float* current = currents.data_ptr<float>();
  const float* variances = variance.defined() ? variance.data_ptr<float>() : nullptr;
  const PhiloxKey key =
      random_key(seed_, tiles.noise_stream + (static_cast<std::uint64_t>(slot.queries_per_row) << 32));
  std::vector<std::int64_t> saturated_by_output(static_cast<std::size_t>(outputs));
  std::int64_t saturated = 0;
  std::mutex merging;
  at::parallel_for(0, currents.size(0), rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    std::vector<std::uint8_t> beyond[2] = {std::vector<std::uint8_t>(outputs), std::vector<std::uint8_t>(outputs)};
    std::vector<std::int64_t> by_output(static_cast<std::size_t>(outputs));
    std::int64_t count = 0;
    for (std::int64_t r = begin; r < end;) {
      const auto number = static_cast<std::uint32_t>((slot.first_row + r) * slot.queries_per_row + slot.query_in_row);
      const bool both = number % 2 == 0 && slot.queries_per_row == 1 && r + 1 < end;
      ArrayRead reads[2];
      for (int k = 0; k <= (both ? 1 : 0); ++k) {
        const RowRead row = row_read(tiles, tops[r + k], current + (r + k) * outputs);
        reads[k] = {current + (r + k) * outputs, variances == nullptr ? nullptr : variances + (r + k) * outputs,
                    row.base_variance, beyond[k].data(), row.adc};
      }
      const DrawAddress address{key, number / 2, slot.block, slot.step};
      const ArrayRead* first = number % 2 == 0 ? &reads[0] : nullptr;
      const ArrayRead* second = both ? &reads[1] : (first == nullptr ? &reads[0] : nullptr);
      const std::int64_t here = row_kernels().read_array_pair(address, outputs, first, second);
      count += here;
      for (int k = 0; here > 0 && k <= (both ? 1 : 0); ++k) {
        for (std::int64_t o = 0; o < outputs; ++o) by_output[o] += beyond[k][o];
      }
      r += both ? 2 : 1;
    }
    const std::lock_guard<std::mutex> lock(merging);
    saturated += count;
    for (std::int64_t o = 0; o < outputs; ++o) saturated_by_output[o] += by_output[o];
  });
  count_saturated(which, saturated_by_output);
  return saturated;
}

void CrossbarLinear::count_saturated(std::size_t tile_row, const std::vector<std::int64_t>& by_output) {
  for (std::size_t o = 0; o < by_output.size(); ++o) {
    saturated_by_adc_[tile_row][o / static_cast<std::size_t>(config_.chip.adc.columns_per_adc)] += by_output[o];
  }
}

Readout CrossbarLinear::query(const QueryBatch& batch) {
  if (writes_ == 0) throw device_error("block " + spec_.name, "was asked before it was programmed");
  const at::Tensor inputs = checked(batch.inputs, "inputs");
  const at::Tensor points = batch.range_point.defined() ? checked(batch.range_point, "the range point") : inputs;
  refresh_state(batch.slot.start_s < 0 ? clock_s_ : batch.slot.start_s);
  const std::vector<double> tops = dac_tops(points, batch.range_margin);
  std::int64_t saturated_inputs = 0;
  std::int64_t saturated_outputs = 0;
  Readout readout;
  readout.applied = converted(inputs, tops, &saturated_inputs);
  const at::Tensor squares = effects_.read_noise ? readout.applied.square() : at::Tensor();
  for (std::size_t k = 0; k < tile_rows_.size(); ++k) {
    const TileRow& tiles = tile_rows_[k];
    at::Tensor currents = at::mm(readout.applied.narrow(1, tiles.first_input, tiles.inputs), tiles.current_us);
    at::Tensor variance;
    if (effects_.read_noise) variance = at::mm(squares.narrow(1, tiles.first_input, tiles.inputs), tiles.variance_us2);
    saturated_outputs += read_tile_row(k, batch.slot, tops, variance, currents);
    readout.values = k == 0 ? currents : readout.values.add_(currents);
  }
  readout.values.mul_(output_scale_ * drift_scale_);
  book(inputs.size(0), saturated_inputs, saturated_outputs);
  return readout;
}

void CrossbarLinear::book(std::int64_t rows, std::int64_t saturated_inputs, std::int64_t saturated_outputs) {
  const QueryShape shape = query_shape();
  meter_.queries += rows;
  meter_.dac_conversions += rows * shape.inputs;
  meter_.adc_conversions += rows * shape.outputs * shape.partial_sums;
  meter_.saturated_inputs += saturated_inputs;
  meter_.saturated_outputs += saturated_outputs;
  meter_.energy += query_energy(config_.chip, shape).scaled(static_cast<double>(rows));
  const double duration_s = batch_duration_s(config_.chip, latency_s_, rows, 1);
  meter_.busy_s += duration_s;
  clock_s_ += duration_s;
}

at::Tensor CrossbarLinear::dac_step(const at::Tensor& range_point, double range_margin, std::int64_t) const {
  const at::Tensor points = checked(range_point, "the range point");
  at::Tensor steps = at::empty({points.size(0)}, at::kFloat);
  const std::vector<double> tops = dac_tops(points, range_margin);
  for (std::size_t r = 0; r < tops.size(); ++r) steps.data_ptr<float>()[r] = dac_at(tops[r]).step;
  return steps;
}

at::Tensor CrossbarLinear::readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t) {
  const at::Tensor points = checked(range_point, "the range point");
  const std::vector<double> tops = dac_tops(points, range_margin);
  std::int64_t ignored = 0;
  const at::Tensor applied = converted(points, tops, &ignored);
  at::Tensor variance = at::zeros({points.size(0), spec_.output_width}, at::kFloat);
  for (const TileRow& tiles : tile_rows_) {
    const at::Tensor part = applied.narrow(1, tiles.first_input, tiles.inputs);
    const at::Tensor currents = at::mm(part, tiles.current_us);
    if (effects_.read_noise) variance += at::mm(part.square(), tiles.variance_us2);
    for (std::int64_t r = 0; r < points.size(0); ++r) {
      const RowRead read = row_read(tiles, tops[r], currents.data_ptr<float>() + r * spec_.output_width);
      variance.select(0, r).add_(read.base_variance + conversion_variance(read.adc));
    }
  }
  const at::Tensor scale = output_scale_ * drift_scale_;
  return (variance * scale * scale).mean(1).sqrt();
}

}  // namespace zbphw
