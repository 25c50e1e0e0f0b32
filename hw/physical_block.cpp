#include "hw/physical_block.hpp"

#include <ATen/ATen.h>

#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"

namespace zbphw {

ProbeReadout PhysicalBlock::probe(const ProbeRequest& request) { return probe_by_queries(*this, request); }

void PhysicalBlock::program(const at::Tensor&) {
  throw device_error("block " + spec().name, "holds no weights to program");
}

DrawAddress probe_address(const ProbeRequest& request, std::int64_t row) {
  return {random_key(request.seed, stream_id("rademacher probe")), static_cast<std::uint32_t>(row * request.probes),
          request.slot.block, request.slot.step};
}

at::Tensor rademacher_signs(const ProbeRequest& request, std::int64_t probe) {
  const std::int64_t rows = request.point.size(0);
  const std::int64_t width = request.point.size(1);
  at::Tensor signs = at::empty({rows, width}, at::kFloat);
  float* out = signs.data_ptr<float>();
  std::vector<std::uint32_t> bits(static_cast<std::size_t>(sign_words(width)));
  for (std::int64_t r = 0; r < rows; ++r) {
    DrawAddress address = probe_address(request, request.slot.first_row + r);
    address.query += static_cast<std::uint32_t>(probe);
    row_kernels().sign_rows(address, width, 1, bits.data());
    for (std::int64_t j = 0; j < width; ++j) out[r * width + j] = (bits[j / 32] >> (j % 32) & 1U) != 0 ? -1.0F : 1.0F;
  }
  return signs;
}

at::Tensor realised_amplitude(const PhysicalBlock& block, const ProbeRequest& request) {
  const double amplitude = request.amplitude;
  const at::Tensor step = block.dac_step(request.point, amplitude, request.slot.first_row);
  const at::Tensor whole_steps = at::floor(amplitude / step).clamp_min(1) * step;
  return at::where(step > 0, whole_steps, at::full_like(step, amplitude));
}

QueryBatch pair_sequence(const PhysicalBlock& block, const ProbeRequest& request, double range_margin) {
  QueryBatch batch;
  batch.slot = request.slot;
  batch.slot.queries_per_row = static_cast<std::uint32_t>(queries_per_probe(request.order) * request.probes);
  batch.slot.start_s = request.slot.start_s < 0 ? block.clock_s() : request.slot.start_s;
  batch.range_point = request.point;
  batch.range_margin = range_margin;
  return batch;
}

PairDifference query_pair(PhysicalBlock& block, QueryBatch batch, const at::Tensor& step, std::int64_t probe,
                          SideOrder order) {
  batch.slot.query_in_row = static_cast<std::uint32_t>(queries_per_probe(order) * probe);
  const auto next = [&](const at::Tensor& moved) {
    batch.inputs = moved;
    Readout readout = block.query(batch);
    batch.slot.query_in_row += 1;
    return readout;
  };
  const Readout plus = next(batch.range_point + step);
  const Readout minus = next(batch.range_point - step);
  if (order == SideOrder::alternating) return {plus.values - minus.values, plus.applied - minus.applied};
  const Readout minus_again = next(batch.range_point - step);
  const Readout plus_again = next(batch.range_point + step);
  return {((plus.values - minus.values) + (plus_again.values - minus_again.values)) / 2, plus.applied - minus.applied};
}

ProbeReadout probe_by_queries(PhysicalBlock& block, const ProbeRequest& request) {
  const at::Tensor amplitude = realised_amplitude(block, request).to(request.point.scalar_type()).unsqueeze(1);
  const std::int64_t rows = request.point.size(0);
  ProbeReadout result{at::zeros({rows, request.probes}, request.point.options()), at::zeros_like(request.point)};
  const QueryBatch sequence = pair_sequence(block, request, request.amplitude);
  for (std::int64_t k = 0; k < request.probes; ++k) {
    const at::Tensor step = amplitude * rademacher_signs(request, k).to(amplitude.scalar_type());
    const PairDifference pair = query_pair(block, sequence, step, k, request.order);
    const at::Tensor response = (request.cotangent * pair.values).sum(1, true) / (2 * amplitude);
    result.responses.select(1, k).copy_(response.squeeze(1));
    // The probe as the DAC produced it: a response holds applied_j v_j, so each estimate is divided by it.
    const at::Tensor applied = pair.applied / (2 * amplitude);
    result.estimate += at::where(applied != 0, response / applied, at::zeros_like(applied));
  }
  result.estimate /= static_cast<double>(request.probes);
  return result;
}

}  // namespace zbphw
