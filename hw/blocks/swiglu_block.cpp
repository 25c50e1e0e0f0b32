// The gate: (a, b) -> silu(a) * b, channel by channel. Inputs [a_0 .. a_F-1, b_0 .. b_F-1], outputs [F].
#include <cmath>
#include <utility>

#include "base/registry.hpp"
#include "hw/blocks/activation_block.hpp"

namespace zbphw {
namespace {

class SwigluBlock final : public ActivationBlock {
 public:
  using ActivationBlock::ActivationBlock;

 protected:
  void transfer(std::int64_t inputs, float, const float* in, float* out) const override {
    row_kernels().swiglu_row(inputs / 2, in, out);
  }

  // |silu(a)| grows with |a| on the side where it is larger, so the reach is at |a| + rho, |b| + rho.
  float output_reach(std::int64_t inputs, std::int64_t outputs, float, float margin, float* in,
                     float* spare) const override {
    if (margin > 0) {
      for (std::int64_t j = 0; j < inputs; ++j) in[j] = std::fabs(in[j]) + margin;
    }
    row_kernels().swiglu_row(inputs / 2, in, spare);
    return row_kernels().extent(outputs, spare).largest_magnitude;
  }

  void transfer_exact(std::int64_t inputs, const double* in, double* out) const override {
    const std::int64_t width = inputs / 2;
    for (std::int64_t j = 0; j < width; ++j) out[j] = in[j] / (1 + std::exp(-in[j])) * in[width + j];
  }
};

std::unique_ptr<PhysicalBlock> make(const RawConfig& raw, const BlockRequest& request) {
  BlockSpec spec;
  spec.name = "swiglu";
  spec.input_width = 2 * request.output_width;
  spec.output_width = request.output_width;
  spec.locality = Locality::elementwise;
  return std::make_unique<SwigluBlock>(spec, read_config<ActivationBlockConfig>(raw.value, raw.where), request);
}

const Registration<BlockKind> registered(
    "swiglu", described_block<ActivationBlockConfig>("feed-forward gate: silu(a) * b, channel by channel", make));

}  // namespace
}  // namespace zbphw
