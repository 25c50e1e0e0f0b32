#include "device_models/line_resistance/port_admittance.hpp"

#include <utility>

namespace zbphw {

PortAdmittance::PortAdmittance(const Eigen::MatrixXd& admittance, std::vector<bool> row_is_open)
    : row_is_open_(std::move(row_is_open)) {
  const auto rows = static_cast<Eigen::Index>(row_is_open_.size());
  transfer_ = -admittance.bottomLeftCorner(admittance.rows() - rows, rows);
  row_admittance_ = admittance.topLeftCorner(rows, rows);
}

std::vector<int> PortAdmittance::floating_rows(const MatrixView& voltage_v, Eigen::Index vector) const {
  std::vector<int> floating;
  for (Eigen::Index row = 0; row < rows(); ++row) {
    if (voltage_v(row, vector) == 0 && !row_is_open_[row]) floating.push_back(static_cast<int>(row));
  }
  return floating;
}

RowMajorMatrix PortAdmittance::row_voltages(const MatrixView& voltage_v, IdleRows idle_rows) const {
  check_voltages(voltage_v, rows());
  RowMajorMatrix result = voltage_v;
  if (idle_rows == IdleRows::held_at_zero) return result;
  std::vector<int> factored;
  Eigen::LLT<Eigen::MatrixXd> factor;
  for (Eigen::Index vector = 0; vector < voltage_v.cols(); ++vector) {
    const std::vector<int> floating = floating_rows(voltage_v, vector);
    if (floating.empty()) continue;
    if (floating != factored) {
      factor.compute(row_admittance_(floating, floating));
      factored = floating;
    }
    // The idle rows' zeros drop out of the product, which leaves the driven rows.
    const Eigen::VectorXd driven_current = row_admittance_ * voltage_v.col(vector);
    const Eigen::VectorXd floating_voltage = factor.solve(-driven_current(floating));
    for (std::size_t k = 0; k < floating.size(); ++k) result(floating[k], vector) = floating_voltage[k];
  }
  return result;
}

RowMajorMatrix PortAdmittance::output_currents(const MatrixView& voltage_v, IdleRows idle_rows) const {
  if (idle_rows == IdleRows::disconnected) return transfer_ * row_voltages(voltage_v, idle_rows);
  check_voltages(voltage_v, rows());
  return transfer_ * voltage_v;
}

RowMajorMatrix PortAdmittance::driver_currents(const MatrixView& voltage_v, IdleRows idle_rows) const {
  return row_admittance_ * row_voltages(voltage_v, idle_rows);
}

}  // namespace zbphw
