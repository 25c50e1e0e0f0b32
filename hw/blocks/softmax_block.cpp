// The score core: one causal row of attention scores in, its softmax out.
#include <ATen/Parallel.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/random.hpp"
#include "base/registry.hpp"
#include "hw/blocks/activation_block.hpp"

namespace zbphw {
namespace {

constexpr std::int64_t rows_per_task = 16;

class SoftmaxBlock final : public ActivationBlock {
 public:
  using ActivationBlock::ActivationBlock;

  // Fused: the perturbed rows exist one at a time, in cache.
  ProbeReadout probe(const ProbeRequest& request) override;

 protected:
  void transfer(std::int64_t inputs, float shift, const float* in, float* out) const override {
    row_kernels().softmax_row(inputs, shift, in, out);
  }

  // A probability rises most when its own score rises and the others fall as often as not: by e^rho / cosh(rho).
  float output_reach(std::int64_t inputs, std::int64_t outputs, float shift, float margin, float* in,
                     float* spare) const override {
    row_kernels().softmax_row(inputs, shift, in, spare);
    const float peak = row_kernels().extent(outputs, spare).largest_magnitude;
    return std::min(1.0F, peak * std::exp(margin) / std::cosh(margin));
  }

  void transfer_exact(std::int64_t inputs, const double* in, double* out) const override {
    const double largest = *std::max_element(in, in + inputs);
    double sum = 0;
    for (std::int64_t j = 0; j < inputs; ++j) sum += out[j] = std::exp(in[j] - largest);
    for (std::int64_t j = 0; j < inputs; ++j) out[j] /= sum;
  }

 private:
  // What a task needs besides the request; one for each thread's share of rows.
  struct Workspace {
    std::vector<float> buffers;
    std::vector<float> scratch;
  };
  SoftmaxProbeRow describe_row(const ProbeRequest& request, std::int64_t row, double start_s, const float* point,
                               float amplitude, Workspace& workspace) const;
};

SoftmaxProbeRow SoftmaxBlock::describe_row(const ProbeRequest& request, std::int64_t row, double start_s,
                                           const float* point, float amplitude, Workspace& workspace) const {
  const RowRange range = range_of(point, row, request.amplitude, workspace.buffers);
  const double since_s = since_calibration_s(request.slot, start_s, row);
  SoftmaxProbeRow job;
  job.length = driven_inputs(row);
  job.probes = request.probes;
  job.mirrored = request.order == SideOrder::mirrored;
  job.point = point;
  job.amplitude = amplitude;
  job.shift = range.shift;
  job.dac = range.dac;
  job.chain = chain_at(range, since_s);
  job.noise = noise_address(request.slot, row);
  job.signs = probe_address(request, row);
  job.start_drift = start_drift(range, since_s);
  job.drift_step = drift_step(range);
  job.scratch = workspace.scratch.data();
  return job;
}

ProbeReadout SoftmaxBlock::probe(const ProbeRequest& request) {
  if (request.point.scalar_type() == at::kDouble) return probe_by_queries(*this, request);
  const std::int64_t width = spec().input_width;
  const at::Tensor points = checked(request.point, width, "the point");
  const at::Tensor cotangents = checked(request.cotangent, width, "the cotangent");
  ProbeRequest sequence = request;
  sequence.slot.queries_per_row = static_cast<std::uint32_t>(queries_per_probe(request.order) * request.probes);
  sequence.slot.query_in_row = 0;
  check_request(sequence.slot, points, cotangents, "the cotangent");
  const at::Tensor amplitudes = realised_amplitude(*this, request);
  const std::int64_t rows = points.size(0);
  ProbeReadout readout{at::empty({rows, request.probes}, at::kFloat), at::zeros({rows, width}, at::kFloat)};
  float* responses = readout.responses.data_ptr<float>();
  float* estimate = readout.estimate.data_ptr<float>();

  const double start_s = sequence_start_s(sequence.slot);
  std::atomic<std::int64_t> saturated_inputs{0};
  std::atomic<std::int64_t> saturated_outputs{0};
  at::parallel_for(0, rows, rows_per_task, [&](std::int64_t begin, std::int64_t end) {
    Workspace workspace{make_buffers(), {}};
    workspace.scratch.resize(static_cast<std::size_t>(softmax_probe_scratch(width, request.probes)));
    for (std::int64_t r = begin; r < end; ++r) {
      SoftmaxProbeRow job =
          describe_row(sequence, request.slot.first_row + r, start_s, points.data_ptr<float>() + r * width,
                       amplitudes.data_ptr<float>()[r], workspace);
      job.cotangent = cotangents.data_ptr<float>() + r * width;
      job.responses = responses + r * request.probes;
      job.estimate = estimate + r * width;
      row_kernels().softmax_probe_row(job);
      saturated_inputs += job.saturated_inputs;
      saturated_outputs += job.saturated_outputs;
    }
  });
  book(request.slot.first_row, rows, queries_per_probe(request.order) * request.probes, saturated_inputs,
       saturated_outputs);
  return readout;
}

std::unique_ptr<PhysicalBlock> make(const RawConfig& raw, const BlockRequest& request) {
  BlockSpec spec;
  spec.name = "softmax";
  spec.input_width = request.output_width;
  spec.output_width = request.output_width;
  spec.locality = Locality::row;
  spec.causal_period = request.causal_period;
  return std::make_unique<SoftmaxBlock>(spec, read_config<ActivationBlockConfig>(raw.value, raw.where), request);
}

const Registration<BlockKind> registered(
    "softmax",
    described_block<ActivationBlockConfig>("attention score core: a causal row of scores to its softmax", make));

}  // namespace
}  // namespace zbphw
