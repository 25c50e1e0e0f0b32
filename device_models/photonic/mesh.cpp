#include "device_models/photonic/mesh.hpp"

#include <cmath>
#include <string>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr Field imaginary_unit{0, 1};

void apply(const Interferometer& t, Field& upper, Field& lower) {
  const Field common = imaginary_unit * std::polar(1.0, t.theta_rad / 2);
  const double s = std::sin(t.theta_rad / 2);
  const double c = std::cos(t.theta_rad / 2);
  const Field turned = std::polar(1.0, t.phi_rad) * upper;
  const Field other = lower;
  upper = common * (s * turned + c * other);
  lower = common * (c * turned - s * other);
}

struct Decomposition {
  std::vector<Field>& u;
  std::int64_t n;
  Field& at(std::int64_t row, std::int64_t column) { return u[static_cast<std::size_t>(row * n + column)]; }

  // U <- U T^-1 with the T that makes (row, mode) vanish.
  Interferometer null_from_right(std::int64_t row, std::int64_t mode) {
    const Field left = at(row, mode);
    const Field right = at(row, mode + 1);
    const Interferometer t{mode, 2 * std::atan2(std::abs(right), std::abs(left)),
                           std::arg(left) - std::arg(right) + std::acos(-1.0)};
    const Field common = -imaginary_unit * std::polar(1.0, -t.theta_rad / 2);
    const double s = std::sin(t.theta_rad / 2);
    const double c = std::cos(t.theta_rad / 2);
    const Field turn = std::polar(1.0, -t.phi_rad);
    for (std::int64_t r = 0; r < n; ++r) {
      const Field a = at(r, mode);
      const Field b = at(r, mode + 1);
      at(r, mode) = common * (a * turn * s + b * c);
      at(r, mode + 1) = common * (a * turn * c - b * s);
    }
    return t;
  }

  // U <- T U with the T that makes (mode + 1, column) vanish.
  Interferometer null_from_left(std::int64_t mode, std::int64_t column) {
    const Field upper = at(mode, column);
    const Field lower = at(mode + 1, column);
    const Interferometer t{mode, 2 * std::atan2(std::abs(upper), std::abs(lower)), std::arg(lower) - std::arg(upper)};
    for (std::int64_t c = 0; c < n; ++c) apply(t, at(mode, c), at(mode + 1, c));
    return t;
  }
};

void check_unitary(const std::vector<Field>& u, std::int64_t n) {
  for (std::int64_t a = 0; a < n; ++a) {
    for (std::int64_t b = a; b < n; ++b) {
      Field product = 0;
      for (std::int64_t k = 0; k < n; ++k) product += std::conj(u[a * n + k]) * u[b * n + k];
      if (!(std::abs(product - (a == b ? 1.0 : 0.0)) < 1e-9)) {
        throw numerical_error("mesh", "rows " + std::to_string(a) + " and " + std::to_string(b) +
                                          " of the matrix are not orthonormal: a mesh holds unitary ones only");
      }
    }
  }
}

}  // namespace

Mesh decompose_unitary(std::vector<Field> unitary, std::int64_t modes) {
  check_unitary(unitary, modes);
  Decomposition work{unitary, modes};
  Mesh mesh{modes, {}, {}};
  std::vector<Interferometer> from_left;
  for (std::int64_t i = 1; i < modes; ++i) {
    for (std::int64_t j = 0; j < i; ++j) {
      if (i % 2 == 1) {
        mesh.interferometers.push_back(work.null_from_right(modes - 1 - j, i - 1 - j));
      } else {
        from_left.push_back(work.null_from_left(modes + j - i - 1, j));
      }
    }
  }
  // U = L_1^-1 .. L_k^-1 D R_p .. R_1 with D diagonal; L^-1 D = D' T moves the diagonal to the outputs.
  for (auto t = from_left.rbegin(); t != from_left.rend(); ++t) {
    Field& upper = work.at(t->mode, t->mode);
    Field& lower = work.at(t->mode + 1, t->mode + 1);
    mesh.interferometers.push_back({t->mode, t->theta_rad, std::arg(upper) - std::arg(lower)});
    const Field turned = -std::polar(1.0, -t->theta_rad) * lower;
    upper = turned * std::polar(1.0, -t->phi_rad);
    lower = turned;
  }
  for (std::int64_t k = 0; k < modes; ++k) mesh.output_rad.push_back(std::arg(work.at(k, k)));
  return mesh;
}

void propagate(const Mesh& mesh, Field* field) {
  for (const Interferometer& t : mesh.interferometers) apply(t, field[t.mode], field[t.mode + 1]);
  for (std::int64_t k = 0; k < mesh.modes; ++k) field[k] *= std::polar(1.0, mesh.output_rad[k]);
}

}  // namespace zbphw
