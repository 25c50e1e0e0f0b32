// Resistive memory with a conductive metal oxide, as fitted in IBM's aihwkit for two acceptance windows of
// program-and-verify. Programming noise is a polynomial of the target. From relaxation_from_s on
//   G(t) = G_p + shift(ln t) + relaxation(ln t) z, one z for each write, shift and relaxation polynomials;
//   read noise = read_noise_us log10(G / uS) sqrt(ln((t + t_read) / (2 t_read))).
// At t = 0 the devices hold what was programmed and the read noise is not defined: it is taken as 0. Times between are
// refused, and so are targets below g_min (9 uS), where the fit ends.
#include <algorithm>
#include <cmath>

#include "base/error.hpp"
#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/curves.hpp"
#include "device_models/cells/streams.hpp"

namespace zbphw {
namespace {

struct RramCmoConfig {
  double g_min_us = 0;
  double g_max_us = 0;
  std::vector<double> programming_sd_us;  // polynomial in the target
  double relaxation_from_s = 0;
  std::vector<double> shift_us;          // polynomial in ln t
  std::vector<double> relaxation_sd_us;  // polynomial in ln t
  double read_noise_us = 0;
  double t_read_ns = 0;
};

void describe(Fields& f, RramCmoConfig& c) {
  // log10(G) of the read noise is negative below 1 uS.
  f.required().number("g_min_us", c.g_min_us, at_least(1), "smallest conductance that is programmed");
  f.required().number("g_max_us", c.g_max_us, above(1), "largest conductance that is programmed");
  describe_polynomial(f, "programming_sd_us", c.programming_sd_us,
                      "programming noise: coefficients in the target in uS, constant first");
  f.required().number("relaxation_from_s", c.relaxation_from_s, above(0), "from when the relaxation is described");
  describe_polynomial(f, "shift_us", c.shift_us, "mean shift: coefficients in ln t_s, constant first");
  describe_polynomial(f, "relaxation_sd_us", c.relaxation_sd_us, "spread of the shift: coefficients in ln t_s");
  f.required().number("read_noise_us", c.read_noise_us, at_least(0), "read noise at 10 uS before its growth in time");
  f.required().number("t_read_ns", c.t_read_ns, above(0), "duration of a read");
  f.require(c.g_min_us < c.g_max_us, "g_min_us", "is not below g_max_us");
  f.require(c.relaxation_from_s > c.t_read_ns * 1e-9, "relaxation_from_s", "is not longer than a read");
}

class RramCmo : public CellModel {
 public:
  RramCmo(CellIdentity identity, const RramCmoConfig& config) : CellModel(std::move(identity)), config_(config) {}

  double g_min_us() const override { return config_.g_min_us; }
  double g_max_us() const override { return config_.g_max_us; }

 private:
  void check_time(double t_s) const override {
    CellModel::check_time(t_s);
    if (t_s > 0 && t_s < config_.relaxation_from_s) {
      throw device_error("cell " + name(), "t_s = " + std::to_string(t_s) + " is between 0 and " +
                                               std::to_string(config_.relaxation_from_s) +
                                               " s, where the model's relaxation is not defined");
    }
  }

  void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const override {
    const RandomAt at = devices.for_attempt(programming_stream);
    for (std::size_t i = 0; i < devices.count; ++i) {
      const double deviation_us = polynomial(config_.programming_sd_us, target_us[i]);
      programmed_us[i] = target_us[i] + deviation_us * at.normal(devices.element(i));
    }
  }

  void relax_all(const double*, const double* programmed_us, const DeviceRange& devices, double t_s,
                 double* conductance_us) const override {
    if (t_s == 0) {
      std::copy(programmed_us, programmed_us + devices.count, conductance_us);
      return;
    }
    const RandomAt at = devices.for_write(drift_stream);
    const double shift_us = polynomial(config_.shift_us, std::log(t_s));
    const double spread_us = polynomial(config_.relaxation_sd_us, std::log(t_s));
    for (std::size_t i = 0; i < devices.count; ++i) {
      conductance_us[i] = programmed_us[i] + shift_us + spread_us * at.normal(devices.element(i));
    }
  }

  void read_noise_all(const double*, const double* conductance_us, std::size_t count, double t_s,
                      double* deviation_us) const override {
    const double t_read_s = config_.t_read_ns * 1e-9;
    const double growth = t_s == 0 ? 0 : std::sqrt(std::log((t_s + t_read_s) / (2 * t_read_s)));
    for (std::size_t i = 0; i < count; ++i) {
      // A device that relaxed below 1 uS has left the fit, where log10 would turn negative.
      deviation_us[i] = config_.read_noise_us * std::log10(std::max(conductance_us[i], 1.0)) * growth;
    }
  }

  RramCmoConfig config_;
};

const CellRegistration<RramCmo, RramCmoConfig> registered("rram_cmo");

}  // namespace
}  // namespace zbphw
