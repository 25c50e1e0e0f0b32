// Phase-change memory of IBM's HERMES chip, one or two devices to a cell: Le Gallo et al., Nature Electronics (2023);
// Khaddam-Aljameh et al., IEEE Journal of Solid-State Circuits (2022). Equations in pcm_cell.hpp, where drift and noise
// strength are clamped logarithms at low conductance and polynomials above.
#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/curves.hpp"
#include "device_models/cells/pcm_cell.hpp"

namespace zbphw {
namespace {

struct PcmHermesConfig {
  PcmConfig pcm;
  LogThenPolynomial drift_mean;
  LogThenPolynomial drift_sd;
  LogThenPolynomial read_noise;
};

void describe(Fields& f, PcmHermesConfig& c) {
  describe_pcm(f, c.pcm);
  f.required().object("drift_mean", c.drift_mean, "mean of the drift exponent over target / g_max");
  f.required().object("drift_sd", c.drift_sd, "standard deviation of the drift exponent");
  f.required().object("read_noise", c.read_noise, "strength Q of the 1/f noise over programmed / g_max");
}

class PcmHermes : public PcmCell {
 public:
  PcmHermes(CellIdentity identity, const PcmHermesConfig& config)
      : PcmCell(std::move(identity), config.pcm), config_(config) {}

 private:
  double drift_mean(double g) const override { return config_.drift_mean.at(g); }
  double drift_sd(double g) const override { return config_.drift_sd.at(g); }
  double noise_strength(double g) const override { return config_.read_noise.at(g); }

  PcmHermesConfig config_;
};

const CellRegistration<PcmHermes, PcmHermesConfig> registered("pcm_hermes");

}  // namespace
}  // namespace zbphw
