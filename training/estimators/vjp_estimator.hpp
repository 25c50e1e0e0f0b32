// Vector-Jacobian products of a physical block, from forward queries alone.
//
// A block y = f(x) is only queried. The digital side knows the cotangent g = dL/dy and wants v = J^T g. Every estimator
// is one file and one name on the command line; docs/methods.md has the law of each one's noise.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/fields.hpp"
#include "hw/physical_block.hpp"

namespace zbphw {

struct EstimatorConfig {
  std::string name = "rademacher";
  std::int64_t probes = 16;  // n; an estimator that uses the block's wiring needs none
  double amplitude = 1;      // rho, in the units of the block's inputs
  SideOrder order = SideOrder::alternating;
};
void describe(Fields& f, EstimatorConfig& c);

struct VjpRequest {
  at::Tensor point;      // x [rows, input_width]
  at::Tensor cotangent;  // g [rows, output_width]
  std::uint64_t seed = 1;
  QuerySlot slot;
};

class VjpEstimator {
 public:
  virtual ~VjpEstimator() = default;

  // An estimate of J^T g, [rows, input_width]; zero where a causal row is not driven.
  virtual at::Tensor estimate(PhysicalBlock& block, const VjpRequest& request) const = 0;

  // What the law expects of ||estimate - v||^2 for each row, [rows]. `exact` is v, `noise` the standard deviation of
  // one readout at each row; `amplitude` the realised rho of each row. Terms: the probes' own, and readout.
  virtual at::Tensor expected_error(const BlockSpec& spec, const VjpRequest& request, const at::Tensor& exact,
                                    const at::Tensor& noise, const at::Tensor& amplitude) const = 0;

  // Queries that one row costs.
  virtual std::int64_t queries_per_row(const BlockSpec& spec) const = 0;

  const EstimatorConfig& config() const { return config_; }

 protected:
  explicit VjpEstimator(EstimatorConfig config) : config_(std::move(config)) {}

  // The request as a block's probe sequence of `pairs` central pairs at the configured amplitude and order.
  ProbeRequest probe_request(const VjpRequest& request, std::int64_t pairs) const;

 private:
  EstimatorConfig config_;
};

struct EstimatorKind {
  std::string summary;
  std::function<std::unique_ptr<VjpEstimator>(const EstimatorConfig& config)> make;
};

// Throws a config Error at `where` for an unknown name.
std::unique_ptr<VjpEstimator> make_estimator(const EstimatorConfig& config, const std::string& where);

// d of each row: the inputs that it drives, [rows].
at::Tensor driven_widths(const BlockSpec& spec, const QuerySlot& slot, std::int64_t rows);

}  // namespace zbphw
