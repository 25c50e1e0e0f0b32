// Cells that are known by the spread of their conductance around the target, as a function of target and time:
//
//   G(t) = max(0, G_T + s(G_T, t) z), one z for each write of a device.
//
// With the same z at all times the spread at t is the published one, and a device that was off by one standard
// deviation stays so. A programmed state from a program-and-verify loop keeps its smaller deviation in proportion.
#pragma once

#include <utility>

#include "device_models/cells/cell_model.hpp"

namespace zbphw {

class SpreadCell : public CellModel {
 public:
  using CellModel::CellModel;

 private:
  // s at a time inside time_range(), which begins with the time of programming.
  virtual double spread_us(double target_us, double t_s) const = 0;

  void program_all(const double* target_us, const DeviceRange& devices, double* programmed_us) const final;
  void relax_all(const double* target_us, const double* programmed_us, const DeviceRange& devices, double t_s,
                 double* conductance_us) const final;
};

}  // namespace zbphw
