#include "training/zbp_config.hpp"

namespace zbphw {

ZbpConfig::ZbpConfig() {
  score_core.amplitude = 0.5;  // large enough for 8-bit readout, small enough for the curvature of a peaked row
  gate.name = "wired";
  gate.amplitude = 0.25;  // where curvature and 8-bit readout are both small on the default device
}

void describe(Fields& f, ZbpConfig& c) {
  f.object("score_core", c.score_core, "how gradients pass the softmax score cores");
  f.object("gate", c.gate, "how gradients pass the SwiGLU gates");
  f.integer("audit_every_steps", c.audit_every_steps, at_least(0), "measure the NSR every so many steps; 0 never");
}

}  // namespace zbphw
