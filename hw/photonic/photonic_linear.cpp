#include "hw/photonic/photonic_linear.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>

#include "base/error.hpp"
#include "base/random.hpp"
#include "base/registry.hpp"
#include "hw/kernels/row_kernels.hpp"

namespace zbphw {
namespace {

constexpr double half_pi = 1.57079632679489661923;

Mesh mesh_of(const at::Tensor& orthogonal) {
  const std::int64_t n = orthogonal.size(0);
  const at::Tensor dense = orthogonal.contiguous();
  std::vector<Field> unitary(static_cast<std::size_t>(n * n));
  for (std::int64_t k = 0; k < n * n; ++k) unitary[k] = dense.data_ptr<double>()[k];
  return decompose_unitary(std::move(unitary), n);
}

void append(const Mesh& mesh, std::vector<double>& phases) {
  for (const Interferometer& t : mesh.interferometers) {
    phases.push_back(t.theta_rad);
    phases.push_back(t.phi_rad);
  }
  phases.insert(phases.end(), mesh.output_rad.begin(), mesh.output_rad.end());
}

const double* take(const double* phase, Mesh& mesh) {
  for (Interferometer& t : mesh.interferometers) {
    t.theta_rad = *phase++;
    t.phi_rad = *phase++;
  }
  for (double& output : mesh.output_rad) output = *phase++;
  return phase;
}

}  // namespace

PhotonicLinear::PhotonicLinear(const PhotonicConfig& config, const std::string& where, const BlockRequest& request)
    : config_(config),
      shifter_config_(read_phase_shifter({config.shifters.value, where + ".shifters"})),
      ideal_(request.fidelity == Fidelity::ideal),
      seed_(request.seed),
      modes_(std::max(request.input_width, request.output_width)),
      time_(request.time ? request.time : analytic_chip_time()) {
  spec_.name = "photonic_linear";
  spec_.input_width = request.input_width;
  spec_.output_width = request.output_width;
  spec_.locality = Locality::dense;
}

QueryShape PhotonicLinear::shape() const {
  return {spec_.input_width, spec_.output_width, shifters(), config_.dac.bits.value_or(16),
          config_.adc.bits.value_or(16)};
}

at::Tensor PhotonicLinear::checked(const at::Tensor& tensor, const char* what) const {
  if (tensor.dim() != 2 || tensor.size(1) != spec_.input_width || tensor.size(0) == 0) {
    std::ostringstream shape;
    shape << tensor.sizes();
    throw config_error("block photonic_linear", std::string(what) + " has shape " + shape.str() + "; expected [rows, " +
                                                    std::to_string(spec_.input_width) + "] with at least one row");
  }
  const at::Tensor finite = tensor.isfinite().all(1);
  if (!finite.all().item<bool>()) {
    throw numerical_error("block photonic_linear",
                          "query " + std::to_string(finite.logical_not().nonzero()[0].item<std::int64_t>()) + " of " +
                              what + " is not finite");
  }
  return tensor.detach().to(at::kCPU, at::kFloat).contiguous();
}

void PhotonicLinear::program(const at::Tensor& weights) {
  if (weights.dim() != 2 || weights.size(0) != spec_.output_width || weights.size(1) != spec_.input_width) {
    std::ostringstream shape;
    shape << weights.sizes();
    throw config_error("block photonic_linear", "the weights have shape " + shape.str() + "; expected [" +
                                                    std::to_string(spec_.output_width) + ", " +
                                                    std::to_string(spec_.input_width) + "]");
  }
  weights_ = weights.detach().to(at::kCPU, at::kDouble).contiguous();
  if (!weights_.isfinite().all().item<bool>()) throw data_error("weights", "hold a number that is not finite");
  at::Tensor square = at::zeros({modes_, modes_}, at::kDouble);
  square.narrow(0, 0, spec_.output_width).narrow(1, 0, spec_.input_width).copy_(weights_);
  const auto [u, s, vt] = at::linalg_svd(square, true);
  weight_scale_ = s[0].item<double>();
  if (weight_scale_ == 0) throw data_error("weights", "are all zero: a mesh that passes no light holds nothing");
  first_ = mesh_of(vt);
  second_ = mesh_of(u);
  attenuators_ = {};
  for (std::int64_t k = 0; k < modes_; ++k) {
    const double theta = 2 * std::asin(std::min(1.0, (s[k] / weight_scale_).item<double>()));
    attenuators_.theta_rad.push_back(theta);
    attenuators_.phi_rad.push_back(-half_pi - theta / 2);  // the straight arm then only attenuates
  }
  const std::vector<double> wanted = wanted_phases();
  voltage_v_.resize(wanted.size());
  const PhaseShifters shifters(shifter_config_);
  unreached_ = static_cast<std::int64_t>(shifters.drive(wanted.data(), wanted.size(), voltage_v_.data()));
  PhaseShifterConfig still = shifter_config_;
  still.phase_noise_rad = 0;
  still_phase_rad_.resize(wanted.size());
  PhaseShifters(still).phases(voltage_v_.data(), {seed_, 0, 0, 0, 0, wanted.size()}, 0, still_phase_rad_.data());
  if (ideal_) still_phase_rad_ = wanted;
  set_phases(still_phase_rad_, first_, attenuators_, second_);
  calibrate();
}

std::vector<double> PhotonicLinear::wanted_phases() const {
  std::vector<double> phases;
  append(first_, phases);
  for (std::size_t k = 0; k < attenuators_.theta_rad.size(); ++k) {
    phases.push_back(attenuators_.theta_rad[k]);
    phases.push_back(attenuators_.phi_rad[k]);
  }
  append(second_, phases);
  return phases;
}

void PhotonicLinear::set_phases(const std::vector<double>& phase_rad, Mesh& first, Attenuators& attenuators,
                                Mesh& second) const {
  const double* phase = take(phase_rad.data(), first);
  for (std::size_t k = 0; k < attenuators.theta_rad.size(); ++k) {
    attenuators.theta_rad[k] = *phase++;
    attenuators.phi_rad[k] = *phase++;
  }
  take(phase, second);
}

void PhotonicLinear::send(const float* driven, const QuerySlot& slot, std::uint32_t query, float* amplitude) const {
  std::vector<Field> field(static_cast<std::size_t>(modes_));
  std::copy(driven, driven + spec_.input_width, field.begin());
  const auto pass = [&](const Mesh& first, const Attenuators& attenuators, const Mesh& second) {
    propagate(first, field.data());
    for (std::int64_t k = 0; k < modes_; ++k) {
      const double theta = attenuators.theta_rad[k];
      field[k] *= std::sin(theta / 2) * std::polar(1.0, half_pi + theta / 2 + attenuators.phi_rad[k]);
    }
    propagate(second, field.data());
  };
  if (ideal_ || shifter_config_.phase_noise_rad == 0) {
    pass(first_, attenuators_, second_);
  } else {
    std::vector<double> phases(voltage_v_.size());
    // Steps and blocks have phase noise of their own; what a shifter keeps for life stays the same.
    const std::uint64_t use = mix64(std::uint64_t{slot.step} << 32 | slot.block);
    const DeviceRange shifters{seed_, 0, static_cast<std::uint32_t>(use), 0, 0, voltage_v_.size()};
    PhaseShifters(shifter_config_).phases(voltage_v_.data(), shifters, query, phases.data());
    Mesh first = first_;
    Mesh second = second_;
    Attenuators attenuators = attenuators_;
    set_phases(phases, first, attenuators, second);
    pass(first, attenuators, second);
  }
  for (std::int64_t j = 0; j < spec_.output_width; ++j) amplitude[j] = static_cast<float>(field[j].real());
}

// The largest amplitude that normal inputs, driven at the range's top, give.
void PhotonicLinear::calibrate() {
  full_scale_ = config_.adc.full_scale;
  if (config_.adc.range != RangeSource::calibrated) return;
  std::vector<float> input(static_cast<std::size_t>(padded_length(spec_.input_width)));
  std::vector<float> amplitude(static_cast<std::size_t>(spec_.output_width));
  double largest = 0;
  for (std::int64_t q = 0; q < config_.calibration_queries; ++q) {
    const RandomAt at(seed_, stream_id("photonic calibration"), 0, 0, static_cast<std::uint32_t>(q));
    float top = 0;
    for (std::int64_t j = 0; j < spec_.input_width; ++j) {
      input[j] = static_cast<float>(at.normal(static_cast<std::uint32_t>(j)));
      top = std::max(top, std::fabs(input[j]));
    }
    for (float& value : input) value /= top;
    send(input.data(), {}, static_cast<std::uint32_t>(q), amplitude.data());
    for (const float a : amplitude) largest = std::max(largest, std::fabs(double(a)));
  }
  full_scale_ = largest * config_.adc.headroom;
}

// The input that is driven as amplitude 1.
double PhotonicLinear::dac_top(const float* row, double margin) const {
  if (config_.dac.range == RangeSource::fixed) return config_.dac.full_scale;
  return (row_kernels().extent(spec_.input_width, row).largest_magnitude + margin) * config_.dac.headroom;
}

void PhotonicLinear::book(std::int64_t rows, std::int64_t saturated_inputs, std::int64_t saturated_outputs) {
  const ChipConfig chip = heated_chip(config_, shape());
  const ChipTotals totals = time_->serve({chip, query_timing(chip, shape()).latency_s(), {rows, 1}, {{shape(), rows}}});
  meter_.queries += totals.queries;
  meter_.dac_conversions += totals.dac_conversions;
  meter_.adc_conversions += totals.adc_conversions;
  meter_.energy += totals.energy;
  meter_.busy_s += static_cast<double>(totals.elapsed_ps) * 1e-12;
  meter_.saturated_inputs += saturated_inputs;
  meter_.saturated_outputs += saturated_outputs;
}

PhotonicLinear::RowAnswer PhotonicLinear::answer_row(const QuerySlot& slot, std::int64_t r, const float* input,
                                                     double top) const {
  const std::int64_t in = spec_.input_width;
  const std::int64_t out = spec_.output_width;
  RowAnswer answer;
  std::vector<float> driven(static_cast<std::size_t>(padded_length(in)));
  std::copy(input, input + in, driven.begin());
  answer.saturated_inputs = row_kernels().convert_row(resolve(config_.dac, top), in, driven.data(), driven.data());
  answer.applied.assign(driven.begin(), driven.begin() + in);
  const auto scale = static_cast<float>(top > 0 ? 1 / top : 0);  // a row of zeros sends no light
  for (std::int64_t j = 0; j < in; ++j) driven[j] *= scale;

  const std::int64_t row = static_cast<std::int64_t>(slot.first_row) + r;
  const auto query = static_cast<std::uint32_t>(row * slot.queries_per_row + slot.query_in_row);
  std::vector<float> amplitude(static_cast<std::size_t>(padded_length(out)));
  send(driven.data(), slot, query, amplitude.data());
  add_detector_noise({seed_, stream_id("photodetector"), slot.step, slot.block, query}, amplitude.data());
  const DrawAddress dither{random_key(seed_, stream_id("photonic dither")), query, slot.block, slot.step};
  answer.saturated_outputs = row_kernels().convert_row_dithered(resolve(config_.adc, full_scale_), dither, out,
                                                                amplitude.data(), amplitude.data());
  const auto back = static_cast<float>(weight_scale_ * top);
  for (std::int64_t j = 0; j < out; ++j) answer.values.push_back(amplitude[j] * back);
  return answer;
}

void PhotonicLinear::add_detector_noise(const RandomAt& random, float* amplitude) const {
  const std::int64_t out = spec_.output_width;
  std::vector<double> power(static_cast<std::size_t>(out));
  std::vector<double> deviation(static_cast<std::size_t>(out));
  for (std::int64_t j = 0; j < out; ++j) power[j] = std::fabs(amplitude[j]);
  photodetector_noise(config_.detector, power.data(), power.size(), deviation.data());
  for (std::int64_t j = 0; j < out; ++j) {
    amplitude[j] += static_cast<float>(deviation[j] * random.normal(static_cast<std::uint32_t>(j)));
  }
}

Readout PhotonicLinear::query(const QueryBatch& batch) {
  if (weight_scale_ == 0) throw device_error("block photonic_linear", "holds no weights yet");
  const at::Tensor inputs = checked(batch.inputs, "the inputs");
  const at::Tensor points = batch.range_point.defined() ? checked(batch.range_point, "the range point") : inputs;
  if (points.size(0) != inputs.size(0)) {
    throw config_error("block photonic_linear", "the range point has other rows than the inputs");
  }
  const std::int64_t rows = inputs.size(0);
  const std::int64_t in = spec_.input_width;
  const std::int64_t out = spec_.output_width;
  if (ideal_) {
    const at::Tensor exact = at::mm(batch.inputs.to(at::kDouble), weights_.t());
    book(rows, 0, 0);
    return {exact.to(batch.inputs.scalar_type()), batch.inputs};
  }
  Readout readout{at::zeros({rows, out}, at::kFloat), at::zeros({rows, in}, at::kFloat)};
  std::atomic<std::int64_t> saturated_inputs{0};
  std::atomic<std::int64_t> saturated_outputs{0};
  at::parallel_for(0, rows, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t r = begin; r < end; ++r) {
      const RowAnswer answer = answer_row(batch.slot, r, inputs.data_ptr<float>() + r * in,
                                          dac_top(points.data_ptr<float>() + r * in, batch.range_margin));
      std::copy(answer.applied.begin(), answer.applied.end(), readout.applied.data_ptr<float>() + r * in);
      std::copy(answer.values.begin(), answer.values.end(), readout.values.data_ptr<float>() + r * out);
      saturated_inputs += answer.saturated_inputs;
      saturated_outputs += answer.saturated_outputs;
    }
  });
  book(rows, saturated_inputs, saturated_outputs);
  return readout;
}

at::Tensor PhotonicLinear::dac_step(const at::Tensor& range_point, double range_margin, std::int64_t) const {
  const at::Tensor points = checked(range_point, "the range point");
  at::Tensor steps = at::empty({points.size(0)}, at::kFloat);
  for (std::int64_t r = 0; r < points.size(0); ++r) {
    steps.data_ptr<float>()[r] =
        resolve(config_.dac, dac_top(points.data_ptr<float>() + r * spec_.input_width, range_margin)).step;
  }
  return steps;
}

// Of the detector at half of full scale, and the conversion; phase noise is of the matrix, not of the readout.
at::Tensor PhotonicLinear::readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t) {
  if (weight_scale_ == 0) throw device_error("block photonic_linear", "holds no weights yet");
  const at::Tensor points = checked(range_point, "the range point");
  const double half = 0.5;
  double detector = 0;
  photodetector_noise(config_.detector, &half, 1, &detector);
  const double deviation = std::sqrt(detector * detector + conversion_variance(resolve(config_.adc, full_scale_)));
  at::Tensor top = at::empty({points.size(0)}, at::kDouble);
  for (std::int64_t r = 0; r < points.size(0); ++r) {
    top.data_ptr<double>()[r] = dac_top(points.data_ptr<float>() + r * spec_.input_width, range_margin);
  }
  return (top * (deviation * weight_scale_)).to(at::kFloat);
}

namespace {

std::unique_ptr<PhysicalBlock> make(const RawConfig& raw, const BlockRequest& request) {
  return std::make_unique<PhotonicLinear>(read_config<PhotonicConfig>(raw.value, raw.where), raw.where, request);
}

const Registration<BlockKind> registered("photonic_linear",
                                         described_block<PhotonicConfig>("meshes of interferometers that hold a matrix",
                                                                         make));

}  // namespace
}  // namespace zbphw
