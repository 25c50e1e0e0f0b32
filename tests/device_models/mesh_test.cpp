#include "device_models/photonic/mesh.hpp"

#include <Eigen/Dense>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/random.hpp"

using Catch::Contains;
using zbphw::decompose_unitary;
using zbphw::Field;
using zbphw::Mesh;

namespace {

using Matrix = Eigen::Matrix<Field, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// The unitary factor of a complex Gaussian matrix, or of a real one.
Matrix random_unitary(std::int64_t modes, bool real) {
  const zbphw::RandomAt at(3, zbphw::stream_id("mesh test"), static_cast<std::uint32_t>(modes));
  Matrix gaussian(modes, modes);
  for (std::int64_t k = 0; k < modes * modes; ++k) {
    const auto element = static_cast<std::uint32_t>(2 * k);
    gaussian.data()[k] = Field(at.normal(element), real ? 0 : at.normal(element + 1));
  }
  return Eigen::HouseholderQR<Matrix>(gaussian).householderQ() * Matrix::Identity(modes, modes);
}

std::vector<Field> entries(const Matrix& m) { return {m.data(), m.data() + m.size()}; }

// What the mesh does to each mode alone, column by column.
Matrix matrix_of(const Mesh& mesh) {
  Matrix result(mesh.modes, mesh.modes);
  for (std::int64_t k = 0; k < mesh.modes; ++k) {
    std::vector<Field> field(static_cast<std::size_t>(mesh.modes));
    field[k] = 1;
    propagate(mesh, field.data());
    for (std::int64_t j = 0; j < mesh.modes; ++j) result(j, k) = field[j];
  }
  return result;
}

}  // namespace

TEST_CASE("a mesh does what the unitary matrix that it was made of does") {
  for (std::int64_t modes = 1; modes <= 33; ++modes) {
    for (const bool real : {true, false}) {
      INFO(modes << " modes");
      const Matrix unitary = random_unitary(modes, real);
      const Mesh mesh = decompose_unitary(entries(unitary), modes);
      CHECK(static_cast<std::int64_t>(mesh.interferometers.size()) == modes * (modes - 1) / 2);
      CHECK((matrix_of(mesh) - unitary).cwiseAbs().maxCoeff() < 1e-12);
    }
  }
}

TEST_CASE("matrices with zeros and permutations fit a mesh too") {
  Matrix permutation = Matrix::Zero(5, 5);
  for (int k = 0; k < 5; ++k) permutation(k, (2 * k + 1) % 5) = k % 2 == 0 ? 1 : -1;
  for (const Matrix& unitary : {Matrix(Matrix::Identity(5, 5)), permutation}) {
    const Mesh mesh = decompose_unitary(entries(unitary), 5);
    CHECK((matrix_of(mesh) - unitary).cwiseAbs().maxCoeff() < 1e-12);
  }
}

TEST_CASE("whatever its phases, a mesh without loss keeps the power of the light") {
  const zbphw::RandomAt at(4, zbphw::stream_id("mesh test"));
  Mesh mesh = decompose_unitary(entries(random_unitary(8, true)), 8);
  std::uint32_t element = 0;
  for (zbphw::Interferometer& t : mesh.interferometers) {
    t.theta_rad += at.normal(element++);
    t.phi_rad += at.normal(element++);
  }
  const Matrix perturbed = matrix_of(mesh);
  CHECK((perturbed.adjoint() * perturbed - Matrix::Identity(8, 8)).cwiseAbs().maxCoeff() < 1e-12);
}

TEST_CASE("an interferometer divides the power by its inner phase") {
  // Power stays in its arm as sin^2(theta / 2).
  for (const double theta : {0.0, 0.7, 1.5707963267948966, 3.141592653589793}) {
    const Mesh mesh{2, {{0, theta, 0.3}}, {0, 0}};
    std::vector<Field> field = {1, 0};
    propagate(mesh, field.data());
    CHECK(std::norm(field[0]) == Approx(std::pow(std::sin(theta / 2), 2)).margin(1e-15));
    CHECK(std::norm(field[1]) == Approx(std::pow(std::cos(theta / 2), 2)).margin(1e-15));
  }
}

TEST_CASE("a mesh refuses what is not unitary") {
  CHECK_THROWS_WITH(decompose_unitary({1, 0, 0, 2}, 2), Contains("rows 1 and 1 of the matrix are not orthonormal"));
  CHECK_THROWS_WITH(decompose_unitary({1, 0, NAN, 1}, 2), Contains("not orthonormal"));
}
