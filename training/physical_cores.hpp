// The model's nonlinear cores on analog blocks: forward by queries, backward by an estimator (the ZBP arm).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "hw/block_registry.hpp"
#include "training/estimators/nsr_audit.hpp"
#include "training/estimators/vjp_estimator.hpp"
#include "training/nonlinear_cores.hpp"
#include "training/zbp_config.hpp"

namespace zbphw {

// What the cores need to know of the model around them.
struct CoresShape {
  std::int64_t layers = 0;
  std::int64_t context_tokens = 0;  // T: a score row's width
  std::int64_t gate_width = 0;      // F
};

class PhysicalCores : public NonlinearCores {
 public:
  // `blocks` is a device file's "blocks" section: it must have "softmax" and "swiglu". One block of each kind a layer,
  // each with noise and mismatch of its own. Throws a config Error for a missing or wrong block or estimator.
  PhysicalCores(const RawConfig& blocks, const CoresShape& shape, const ZbpConfig& config, Fidelity fidelity,
                std::uint64_t seed);
  ~PhysicalCores() override;

  void begin_pass(const Pass& pass) override;
  // scores must be [B, H, T, T] with T the context, because a chip's row has a fixed width.
  at::Tensor softmax(const at::Tensor& scores, std::int64_t layer) override;
  at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t layer) override;

  // Everything that all blocks did so far.
  Meter meter() const;
  // By block kind ("softmax", "swiglu"); kinds that no audit has seen yet are missing.
  Json nsr() const;

  // nsr() and the meter's totals.
  Json report() const override;

  Json state() const override;
  void restore(const Json& state) override;

 private:
  struct Kind;  // one kind of block: its estimator, its audit, a block for each layer

  // point: the rows of `sequences` sequences, one after the other.
  at::Tensor call(Kind& kind, const at::Tensor& point, std::int64_t sequences, std::int64_t layer);

  CoresShape shape_;
  ZbpConfig config_;
  std::uint64_t seed_;
  Pass pass_;
  std::unique_ptr<Kind> softmax_;
  std::unique_ptr<Kind> swiglu_;
};

}  // namespace zbphw
