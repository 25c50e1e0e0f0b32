#include "training/random_fill.hpp"

#include <ATen/Parallel.h>
#include <ATen/TensorOperators.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>

#include <catch2/catch.hpp>
#include <cmath>

namespace {

at::Tensor filled(std::int64_t count, double std, double bound, std::uint64_t seed = 1) {
  const at::Tensor tensor = at::empty({count}, at::kFloat);
  zbphw::fill_truncated_normal(tensor, zbphw::RandomAt(seed, zbphw::stream_id("test"), 0, 2), std, bound);
  return tensor;
}

}  // namespace

TEST_CASE("a truncated normal keeps its bound and has the variance of the truncated density") {
  const std::int64_t count = 400000;
  const double bound = 1.5;
  const at::Tensor z = filled(count, 1, bound).to(at::kDouble);
  CHECK(z.abs().max().item<double>() <= bound);
  // Var = 1 - 2 a phi(a) / (Phi(a) - Phi(-a)); five standard errors, those of a variance being at most sqrt(2 / n).
  const double density = std::exp(-bound * bound / 2) / std::sqrt(2 * 3.14159265358979);
  const double variance = 1 - 2 * bound * density / std::erf(bound / std::sqrt(2.0));
  CHECK(std::abs(z.square().mean().item<double>() - variance) < 5 * std::sqrt(2.0 / count));
  CHECK(std::abs(z.mean().item<double>()) < 5 * std::sqrt(variance / count));
}

TEST_CASE("neighbouring elements are uncorrelated") {
  const std::int64_t count = 400000;
  const at::Tensor z = filled(count, 1, 3).to(at::kDouble);
  for (const std::int64_t lag : {1, 2, 3, 4}) {
    const double mean = (z.narrow(0, 0, count - lag) * z.narrow(0, lag, count - lag)).mean().item<double>();
    CHECK(std::abs(mean) < 5 / std::sqrt(double(count)));
  }
}

TEST_CASE("the values depend on neither the thread count nor the tensor's length") {
  const int threads = at::get_num_threads();
  at::set_num_threads(1);
  const at::Tensor one = filled(100003, 0.02, 3);
  at::set_num_threads(3);
  const at::Tensor three = filled(100003, 0.02, 3);
  const at::Tensor longer = filled(100007, 0.02, 3);
  at::set_num_threads(threads);
  CHECK(at::equal(one, three));
  CHECK(at::equal(one, longer.narrow(0, 0, 100003)));
  CHECK_FALSE(at::equal(one, filled(100003, 0.02, 3, 2)));
}
