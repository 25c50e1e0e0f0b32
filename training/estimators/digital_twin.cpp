#include "training/estimators/digital_twin.hpp"

#include <ATen/ATen.h>

#include <functional>
#include <limits>
#include <map>

#include "base/error.hpp"
#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {
namespace {

using Twin = std::function<at::Tensor(const BlockSpec&, const QuerySlot&, const at::Tensor&, const at::Tensor&)>;

// p = softmax(x): J^T g = p * (g - p . g)
at::Tensor softmax_twin(const BlockSpec& spec, const QuerySlot& slot, const at::Tensor& point,
                        const at::Tensor& cotangent) {
  const at::Tensor widths = driven_widths(spec, slot, point.size(0)).unsqueeze(1);
  const at::Tensor undriven = at::arange(spec.input_width, at::kLong).unsqueeze(0) >= widths;
  const at::Tensor p = point.masked_fill(undriven, -std::numeric_limits<double>::infinity()).softmax(1);
  return p * (cotangent - (p * cotangent).sum(1, true));
}

// h = silu(a) b: dh/da = sigma(a) (1 + a (1 - sigma(a))) b, dh/db = silu(a)
at::Tensor swiglu_twin(const BlockSpec&, const QuerySlot&, const at::Tensor& point, const at::Tensor& cotangent) {
  const std::vector<at::Tensor> ab = point.chunk(2, 1);
  const at::Tensor sigma = ab[0].sigmoid();
  const at::Tensor to_a = cotangent * ab[1] * sigma * (1 + ab[0] * (1 - sigma));
  return at::cat({to_a, cotangent * ab[0] * sigma}, 1);
}

const std::map<std::string, Twin>& twins() {
  static const std::map<std::string, Twin> all = {{"softmax", softmax_twin}, {"swiglu", swiglu_twin}};
  return all;
}

}  // namespace

at::Tensor twin_vjp(const BlockSpec& spec, const QuerySlot& slot, const at::Tensor& point,
                    const at::Tensor& cotangent) {
  const auto found = twins().find(spec.name);
  if (found == twins().end()) throw config_error("block " + spec.name, "has no digital twin to compare with");
  return found->second(spec, slot, point, cotangent);
}

}  // namespace zbphw
