// Batches cut from a token sequence. Which tokens a batch holds depends on (seed, number of the batch) alone, so a
// resumed run, another rank count or another micro-batch size sees the same data.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>

#include "training/data/token_sequence.hpp"

namespace zbphw {

struct Batch {
  at::Tensor tokens;   // [B, T] int64
  at::Tensor targets;  // [B, T] int64: the token that follows each
};

// Random windows: row r of batch i starts at a place drawn uniformly at (seed, i, r).
class TrainBatches {
 public:
  // Throws a data Error when the sequence is shorter than context_tokens + 1.
  TrainBatches(std::shared_ptr<const TokenSequence> sequence, std::int64_t context_tokens, std::uint64_t seed);

  // Rows [first_row, first_row + rows) of batch `index`.
  Batch rows(std::int64_t index, std::int64_t first_row, std::int64_t rows) const;

 private:
  std::shared_ptr<const TokenSequence> sequence_;
  std::int64_t context_tokens_;
  std::uint64_t seed_;
};

// Windows that stand still: the sequence is divided into contexts (a shorter rest is left out), and of these as many as
// `at_most_tokens` allows are taken, evenly spread, at least one.
class ValidationBatches {
 public:
  // Throws a data Error when the sequence is shorter than context_tokens + 1.
  ValidationBatches(std::shared_ptr<const TokenSequence> sequence, std::int64_t context_tokens,
                    std::int64_t rows_per_batch, std::int64_t at_most_tokens);

  std::int64_t count() const;   // of batches; the last may have fewer rows
  std::int64_t tokens() const;  // targets in all batches together
  Batch at(std::int64_t index) const;

 private:
  std::shared_ptr<const TokenSequence> sequence_;
  std::int64_t context_tokens_;
  std::int64_t rows_per_batch_;
  std::int64_t available_;  // contexts in the sequence
  std::int64_t windows_;    // of them taken
};

}  // namespace zbphw
