// AdamW: Loshchilov and Hutter, "Decoupled weight decay regularization", ICLR 2019, algorithm 2.
#pragma once

#include "training/optimizer.hpp"

namespace zbphw {

class AdamW : public Optimizer {
 public:
  // Decay applies to matrices, not to embeddings and gains.
  AdamW(const AdamWConfig& config, std::vector<NamedParameter> parameters);

  void step(std::int64_t update, double learning_rate_factor) override;
  NamedTensors state() const override;

 private:
  AdamWConfig config_;
  std::vector<NamedParameter> parameters_;
  std::vector<at::Tensor> mean_;         // m, of the gradient
  std::vector<at::Tensor> mean_square_;  // v
};

}  // namespace zbphw
