#include "training/data/batches.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>

#include <catch2/catch.hpp>
#include <numeric>
#include <set>

using zbphw::Batch;
using zbphw::TokenVector;
using zbphw::TrainBatches;
using zbphw::ValidationBatches;

namespace {

// Token i is i, so a window shows where it was cut.
std::shared_ptr<TokenVector> counting(std::int32_t size) {
  std::vector<std::int32_t> tokens(static_cast<std::size_t>(size));
  std::iota(tokens.begin(), tokens.end(), 0);
  return std::make_shared<TokenVector>(tokens);
}

}  // namespace

TEST_CASE("targets are the tokens one further") {
  const TrainBatches batches(counting(100), 8, 1);
  const Batch batch = batches.rows(3, 0, 4);
  CHECK(batch.tokens.sizes() == at::IntArrayRef({4, 8}));
  CHECK(at::equal(batch.targets, batch.tokens + 1));
  CHECK(at::equal(batch.tokens.narrow(1, 1, 7), batch.tokens.narrow(1, 0, 7) + 1));
}

TEST_CASE("a batch depends on the seed and its number alone, and splits into rows") {
  const TrainBatches batches(counting(1000), 8, 1), again(counting(1000), 8, 1), other(counting(1000), 8, 2);
  const Batch whole = batches.rows(5, 0, 6);
  CHECK(at::equal(again.rows(5, 0, 6).tokens, whole.tokens));
  CHECK(at::equal(again.rows(5, 4, 2).tokens, whole.tokens.narrow(0, 4, 2)));
  CHECK_FALSE(at::equal(other.rows(5, 0, 6).tokens, whole.tokens));
  CHECK_FALSE(at::equal(batches.rows(6, 0, 6).tokens, whole.tokens));
}

TEST_CASE("windows start at every place, the last one included") {
  const TrainBatches batches(counting(12), 8, 1);
  std::set<std::int64_t> starts;
  for (int i = 0; i < 50; ++i) starts.insert(batches.rows(i, 0, 1).tokens[0][0].item<std::int64_t>());
  CHECK(starts == std::set<std::int64_t>{0, 1, 2, 3});  // 3 + 8 is the last token
}

TEST_CASE("validation covers the span once, without overlap") {
  const ValidationBatches batches(counting(35), 4, 3, 1000);
  CHECK(batches.count() == 3);
  CHECK(batches.tokens() == 32);  // 8 windows of 4; tokens 33 and 34 are a rest
  std::int64_t next_target = 1;
  for (std::int64_t i = 0; i < batches.count(); ++i) {
    const Batch batch = batches.at(i);
    CHECK(batch.tokens.size(0) == (i < 2 ? 3 : 2));
    for (std::int64_t row = 0; row < batch.tokens.size(0); ++row) {
      for (std::int64_t t = 0; t < 4; ++t) CHECK(batch.targets[row][t].item<std::int64_t>() == next_target++);
    }
  }
}

TEST_CASE("a shorter validation spreads its contexts evenly") {
  const ValidationBatches batches(counting(41), 4, 10, 19);  // 4 of 10 contexts
  CHECK(batches.tokens() == 16);
  const at::Tensor tokens = batches.at(0).tokens;
  const std::int64_t starts[] = {0, 8, 20, 28};  // contexts 0, 2, 5 and 7
  for (std::int64_t row = 0; row < 4; ++row) CHECK(tokens[row][0].item<std::int64_t>() == starts[row]);
  CHECK(ValidationBatches(counting(41), 4, 10, 1).tokens() == 4);
}

TEST_CASE("sequences shorter than a context and a target are refused") {
  CHECK_THROWS_WITH(TrainBatches(counting(8), 8, 1), Catch::Contains("has 8 tokens"));
  CHECK_THROWS_WITH(ValidationBatches(counting(8), 8, 1, 1000), Catch::Contains("has 8 tokens"));
  CHECK_NOTHROW(TrainBatches(counting(9), 8, 1).rows(0, 0, 2));
}
