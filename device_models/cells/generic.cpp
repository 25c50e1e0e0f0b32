// A cell made of parts, for studies of one effect at a time and for devices without a published fit:
//   G_p = max(0, G_T + s(G_T) z),  s(G)^2 = sd_us^2 + (sd_of_value G)^2 + (sd_of_g_max g_max)^2;
//   retention  G = rest + (G_p - rest) exp(-t / time_constant);
//   drift      G = G ((t + t0) / t0)^-nu,  nu = mean + sd z', once for each write (it may be negative);
//   read noise of the same form as s, of the conductance at t.
// Every part may be left out.
#include <cmath>

#include "device_models/cells/cell_registry.hpp"
#include "device_models/cells/streams.hpp"

namespace zbphw {
namespace {

struct Spread {
  double sd_us = 0;
  double sd_of_value = 0;
  double sd_of_g_max = 0;

  double at(double g_us, double g_max_us) const {
    return std::sqrt(sd_us * sd_us + sd_of_value * g_us * sd_of_value * g_us +
                     sd_of_g_max * g_max_us * sd_of_g_max * g_max_us);
  }
};

struct Retention {
  double time_constant_s = 0;
  double rest_us = 0;
};

struct Drift {
  double mean = 0;
  double sd = 0;
  double t0_s = 0;
};

struct GenericConfig {
  double g_min_us = 0;
  double g_max_us = 0;
  Spread programming;
  Spread read_noise;
  std::optional<Retention> retention;
  std::optional<Drift> drift;
};

void describe(Fields& f, Spread& c) {
  f.number("sd_us", c.sd_us, at_least(0), "standard deviation, absolute");
  f.number("sd_of_value", c.sd_of_value, at_least(0), "standard deviation as a fraction of the conductance");
  f.number("sd_of_g_max", c.sd_of_g_max, at_least(0), "standard deviation as a fraction of g_max");
}

void describe(Fields& f, Retention& c) {
  f.required().number("time_constant_s", c.time_constant_s, above(0), "time of the exponential loss");
  f.number("rest_us", c.rest_us, at_least(0), "conductance that is left in the end");
}

void describe(Fields& f, Drift& c) {
  f.required().number("mean", c.mean, any_number(), "mean of the drift exponent");
  f.number("sd", c.sd, at_least(0), "standard deviation of the drift exponent");
  f.required().number("t0_s", c.t0_s, above(0), "time from programming to the first reading, where t_s begins");
}

void describe(Fields& f, GenericConfig& c) {
  f.number("g_min_us", c.g_min_us, at_least(0), "smallest conductance that is programmed");
  f.required().number("g_max_us", c.g_max_us, above(0), "largest conductance that is programmed");
  f.object("programming", c.programming, "programming noise, as a function of the target");
  f.object("read_noise", c.read_noise, "standard deviation of one read, as a function of the conductance");
  f.optional_object("retention", c.retention, "exponential loss of the programmed state");
  f.optional_object("drift", c.drift, "power-law drift");
  f.require(c.g_min_us < c.g_max_us, "g_min_us", "is not below g_max_us");
}

class Generic : public CellModel {
 public:
  Generic(CellIdentity identity, const GenericConfig& config) : CellModel(std::move(identity)), config_(config) {}

  double g_min_us() const override { return config_.g_min_us; }
  double g_max_us() const override { return config_.g_max_us; }

 private:
  void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const override {
    const RandomAt at = devices.for_attempt(programming_stream);
    for (std::size_t i = 0; i < devices.count; ++i) {
      const double deviation_us = config_.programming.at(target_us[i], config_.g_max_us);
      programmed_us[i] = target_us[i] + deviation_us * at.normal(devices.element(i));
    }
  }

  void relax_all(const double*, const double* programmed_us, const DeviceRange& devices, double t_s,
                 double* conductance_us) const override {
    const RandomAt at = devices.for_write(drift_stream);
    for (std::size_t i = 0; i < devices.count; ++i) {
      double g_us = programmed_us[i];
      if (config_.retention) g_us = retained(*config_.retention, g_us, t_s);
      if (config_.drift) g_us *= drift_factor(*config_.drift, at.normal(devices.element(i)), t_s);
      conductance_us[i] = g_us;
    }
  }

  static double retained(const Retention& retention, double g_us, double t_s) {
    // The increment, so that nothing is rounded at t = 0.
    return g_us + (g_us - retention.rest_us) * std::expm1(-t_s / retention.time_constant_s);
  }

  static double drift_factor(const Drift& drift, double z, double t_s) {
    return std::pow((t_s + drift.t0_s) / drift.t0_s, -(drift.mean + drift.sd * z));
  }

  void read_noise_all(const double*, const double* conductance_us, std::size_t count, double,
                      double* deviation_us) const override {
    for (std::size_t i = 0; i < count; ++i) {
      deviation_us[i] = config_.read_noise.at(conductance_us[i], config_.g_max_us);
    }
  }

  GenericConfig config_;
};

const CellRegistration<Generic, GenericConfig> registered("generic");

}  // namespace
}  // namespace zbphw
