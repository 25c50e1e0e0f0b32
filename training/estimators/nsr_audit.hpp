// Measured noise-to-signal ratios of one block kind beside the law's prediction.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/json.hpp"
#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {

// NSR = sum over rows ||v_hat - v||^2 / sum ||v||^2, v the digital twin's exact product. Sums are kept, so that audits
// of several layers and steps add up to one ratio weighted by ||v||^2.
class NsrAudit {
 public:
  void add(PhysicalBlock& block, const VjpEstimator& estimator, const VjpRequest& request, const at::Tensor& estimate);

  bool empty() const { return rows_ == 0; }
  double measured() const { return error_ / signal_; }
  double predicted() const { return expected_ / signal_; }
  double width() const { return width_ / signal_; }             // d, weighted by ||v||^2
  double probes() const { return probes_; }                     // pairs of queries a row
  double c() const { return measured() * probes() / width(); }  // NSR = c d / n

  // {"measured", "predicted", "c", "width", "probes"}
  Json result() const;

  // The sums, for a checkpoint.
  Json state() const;
  void restore(const Json& state);

 private:
  std::int64_t rows_ = 0;
  double error_ = 0;
  double expected_ = 0;
  double signal_ = 0;
  double width_ = 0;
  double probes_ = 0;
};

}  // namespace zbphw
