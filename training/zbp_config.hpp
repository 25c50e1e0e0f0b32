// How the ZBP arm passes gradients through each kind of block.
#pragma once

#include <cstdint>

#include "base/fields.hpp"
#include "training/estimators/vjp_estimator.hpp"

namespace zbphw {

struct ZbpConfig {
  ZbpConfig();  // the score core by 16 random pairs, the gate by its wiring

  EstimatorConfig score_core;
  EstimatorConfig gate;
  std::int64_t audit_every_steps = 25;  // measure the NSR against the digital twin at every such step; 0 never
};
void describe(Fields& f, ZbpConfig& c);

}  // namespace zbphw
