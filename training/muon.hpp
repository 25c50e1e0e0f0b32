// Muon: momentum whose matrix is made nearly orthogonal before it is applied.
//
// Jordan, Jin, Boza, You, Cesista, Newhouse, Bernstein, "Muon: an optimizer for hidden layers in neural networks"
// (2024, kellerjordan.github.io/posts/muon).
#pragma once

#include "training/optimizer.hpp"

namespace zbphw {

// Newton-Schulz iteration on X = matrix / (||matrix||_F + 1e-7), on the transpose when it has more rows than columns:
//     X <- a X + (b A + c A^2) X,   A = X X^T,
// which leaves singular vectors as they are and takes each singular value s to a s + b s^3 + c s^5.
at::Tensor nearly_orthogonal(const at::Tensor& matrix, const std::vector<double>& coefficients, std::int64_t steps);

class Muon : public Optimizer {
 public:
  // Every parameter must be a matrix.
  Muon(const MuonConfig& config, std::vector<NamedParameter> parameters);

  // m <- lerp(m, g, 1 - momentum);  u = nearly_orthogonal(lerp(g, m, momentum)) sqrt(max(1, rows / columns));
  // p <- (1 - rate decay) p - rate u
  void step(std::int64_t update, double learning_rate_factor) override;
  NamedTensors state() const override;

 private:
  MuonConfig config_;
  std::vector<NamedParameter> parameters_;
  std::vector<at::Tensor> momentum_;
};

}  // namespace zbphw
