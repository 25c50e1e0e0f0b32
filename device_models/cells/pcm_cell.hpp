// What the fits of phase-change cells share: programming noise, drift and 1/f noise of the form
//
//   g = G_T / g_max,  G_p = max(0, G_T + s(g) z),  nu = |m(g) + d(g) z'| once for each write,
//   G(t) = G_p ((t + t0) / t0)^-nu,
//   read noise G(t) Q(G_p / g_max) sqrt(ln((t + t0 + t_read) / (2 t_read))),
//
// with s a polynomial (Nandakumar et al., "Phase-change memory models for deep learning training and inference", ICECS
// 2019; Joshi et al., Nature Communications 11, 2473, 2020). The models differ in m, d and Q. t counts from t0 after
// programming, the time of the first reading, so that G(0) = G_p; 1/f noise is there at t = 0 already.
#pragma once

#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "device_models/cells/cell_model.hpp"

namespace zbphw {

struct PcmConfig {
  double g_max_us = 0;
  double t0_s = 0;
  double t_read_ns = 0;
  std::vector<double> programming_sd_us;  // polynomial in g
};

void describe_pcm(Fields& f, PcmConfig& c);

class PcmCell : public CellModel {
 public:
  PcmCell(CellIdentity identity, PcmConfig config) : CellModel(std::move(identity)), config_(std::move(config)) {}

  double g_min_us() const final { return 0; }
  double g_max_us() const final { return config_.g_max_us; }

 private:
  virtual double drift_mean(double g) const = 0;
  virtual double drift_sd(double g) const = 0;
  virtual double noise_strength(double g) const = 0;  // Q

  void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const final;
  void relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                 double* conductance_us) const final;
  void read_noise_all(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                      double* deviation_us) const final;

  PcmConfig config_;
};

}  // namespace zbphw
