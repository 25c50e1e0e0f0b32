// A mesh of Mach-Zehnder interferometers: any unitary matrix from phases.
//
// An interferometer on the neighbouring modes m and m + 1 has an inner phase theta and an outer one phi:
//
//     T = i e^{i theta / 2} | e^{i phi} sin(theta / 2)    cos(theta / 2) |
//                           | e^{i phi} cos(theta / 2)   -sin(theta / 2) |
//
// The rectangular arrangement of Clements, Humphreys, Metcalf, Kolthammer and Walmsley (Optica 3, 1460, 2016) needs
// N (N - 1) / 2 of them and a phase at every output.
#pragma once

#include <complex>
#include <cstdint>
#include <vector>

namespace zbphw {

using Field = std::complex<double>;  // of one mode, normalised

struct Interferometer {
  std::int64_t mode = 0;  // of the upper arm
  double theta_rad = 0;
  double phi_rad = 0;
};

struct Mesh {
  std::int64_t modes = 0;
  std::vector<Interferometer> interferometers;  // in the order in which light meets them
  std::vector<double> output_rad;               // [modes]
};

// `unitary` [modes, modes] in C order. Throws a numerical Error when it is not unitary to 1e-9.
Mesh decompose_unitary(std::vector<Field> unitary, std::int64_t modes);

// Sends a field [modes] through the mesh, in place.
void propagate(const Mesh& mesh, Field* field);

}  // namespace zbphw
