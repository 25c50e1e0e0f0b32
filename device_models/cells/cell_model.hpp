// A memory cell: program -> relax(t) -> read.
//
// program() writes target conductances and gives what the devices hold right after (programming noise, clipped at
// zero). relax() gives what they hold t_s seconds after programming (drift, relaxation), from the programmed state; it
// may be asked for any times in any order and always speaks of the same devices. read_noise() gives the standard
// deviation of one read, so that the array can add sqrt(sum_j s_ij^2 x_j^2) z at its output instead of drawing one
// normal for each cell; a read itself is never clipped, since clipping fresh noise at zero biases small conductances.
//
// Conductances are in microsiemens, times in seconds since programming. Objects are immutable: all calls are safe from
// several threads. A new cell is one file: a described config, a class like this one, and a CellRegistration
// (cell_registry.hpp).
#pragma once

#include <cstdint>
#include <limits>
#include <string>

#include "base/json.hpp"
#include "device_models/device_range.hpp"

namespace zbphw {

struct TimeRange {
  double first_s = 0;
  double last_s = std::numeric_limits<double>::infinity();
};

enum class DeviceFault { none, stuck_off, stuck_on };

// The cell's name for errors, and its complete effective configuration for the trace.
struct CellIdentity {
  std::string name;
  Json config;
};

class CellModel {
 public:
  explicit CellModel(CellIdentity identity) : identity_(std::move(identity)) {}
  virtual ~CellModel() = default;
  CellModel(const CellModel&) = delete;
  CellModel& operator=(const CellModel&) = delete;

  const std::string& name() const { return identity_.name; }
  const Json& config() const { return identity_.config; }

  // The targets that program() accepts.
  virtual double g_min_us() const = 0;
  virtual double g_max_us() const = 0;

  // The times that relax() accepts. At first_s, relax() gives the programmed state back (as read at the chip's
  // temperature).
  virtual TimeRange time_range() const { return {}; }

  // target_us[count] -> programmed_us[count], which is never negative. Throws a device Error when a target is outside
  // g_min_us() to g_max_us() or not a number.
  void program(const double* target_us, const DeviceRange& devices, double* programmed_us) const;

  // The state at t_s of devices that program() left at programmed_us when it was asked for target_us; all arrays
  // [count], conductance_us is never negative. Throws a device Error when t_s is outside time_range().
  void relax(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
             double* conductance_us) const;

  // The standard deviation of one read at t_s of devices that relax() left at conductance_us; all arrays [count].
  // Throws as relax().
  void read_noise(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                  double* deviation_us) const;

  // Which devices do not follow program(): faults[count].
  virtual void faults(const DeviceRange& devices, DeviceFault* faults) const;

 protected:
  // Throws when t_s is not covered; overridden where time_range() does not say all.
  virtual void check_time(double t_s) const;

 private:
  // The same without the checks and without clipping at zero, which the public functions do.
  virtual void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const = 0;
  virtual void relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                         double* conductance_us) const = 0;
  virtual void read_noise_all(const double* programmed_us, const double* conductance_us, std::size_t count, double t_s,
                              double* deviation_us) const = 0;

  CellIdentity identity_;
};

}  // namespace zbphw
