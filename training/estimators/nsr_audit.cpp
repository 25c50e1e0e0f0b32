#include "training/estimators/nsr_audit.hpp"

#include <ATen/ATen.h>

#include "training/estimators/digital_twin.hpp"

namespace zbphw {

void NsrAudit::add(PhysicalBlock& block, const VjpEstimator& estimator, const VjpRequest& request,
                   const at::Tensor& estimate) {
  const BlockSpec& spec = block.spec();
  const at::Tensor exact = twin_vjp(spec, request.slot, request.point, request.cotangent).to(at::kDouble);
  ProbeRequest range;
  range.point = request.point;
  range.amplitude = estimator.config().amplitude;
  range.slot = request.slot;
  const at::Tensor noise = block.readout_noise(request.point, range.amplitude, request.slot.first_row);
  const at::Tensor amplitude = realised_amplitude(block, range);
  const at::Tensor signal = exact.square().sum(1);
  const at::Tensor widths = driven_widths(spec, request.slot, exact.size(0));

  rows_ += exact.size(0);
  error_ += (estimate.to(at::kDouble) - exact).square().sum().item<double>();
  expected_ += estimator.expected_error(spec, request, exact, noise, amplitude).sum().item<double>();
  signal_ += signal.sum().item<double>();
  width_ += (widths * signal).sum().item<double>();
  probes_ = static_cast<double>(estimator.queries_per_row(spec)) / 2;
}

Json NsrAudit::result() const {
  return {{"measured", measured()}, {"predicted", predicted()}, {"c", c()}, {"width", width()}, {"probes", probes()}};
}

Json NsrAudit::state() const {
  return {{"rows", rows_},     {"error", error_}, {"expected", expected_},
          {"signal", signal_}, {"width", width_}, {"probes", probes_}};
}

void NsrAudit::restore(const Json& state) {
  rows_ = state.at("rows").get<std::int64_t>();
  error_ = state.at("error").get<double>();
  expected_ = state.at("expected").get<double>();
  signal_ = state.at("signal").get<double>();
  width_ = state.at("width").get<double>();
  probes_ = state.at("probes").get<double>();
}

}  // namespace zbphw
