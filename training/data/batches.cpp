#include "training/data/batches.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/random.hpp"

namespace zbphw {
namespace {

void require_one_window(const TokenSequence& sequence, std::int64_t context_tokens) {
  if (sequence.size() < context_tokens + 1) {
    throw data_error("data", "has " + std::to_string(sequence.size()) + " tokens, fewer than a context of " +
                                 std::to_string(context_tokens) + " and the token after it");
  }
}

// One row for each start: tokens [start, start + T) and, one further, their targets.
Batch cut(const TokenSequence& sequence, const std::vector<std::int64_t>& starts, std::int64_t context_tokens) {
  const std::int64_t rows = static_cast<std::int64_t>(starts.size());
  const at::Tensor windows = at::empty({rows, context_tokens + 1}, at::kLong);
  std::int64_t* out = windows.data_ptr<std::int64_t>();
  for (const std::int64_t start : starts) {
    sequence.copy(start, context_tokens + 1, out);
    out += context_tokens + 1;
  }
  // Clones, since the caller may mask targets: a single row's narrow() would share its values with the tokens.
  const auto from = [&](std::int64_t column) {
    return windows.narrow(1, column, context_tokens).clone(at::MemoryFormat::Contiguous);
  };
  return {from(0), from(1)};
}

}  // namespace

TrainBatches::TrainBatches(std::shared_ptr<const TokenSequence> sequence, std::int64_t context_tokens,
                           std::uint64_t seed)
    : sequence_(std::move(sequence)), context_tokens_(context_tokens), seed_(seed) {
  require_one_window(*sequence_, context_tokens_);
}

Batch TrainBatches::rows(std::int64_t index, std::int64_t first_row, std::int64_t rows) const {
  const RandomAt at(seed_, stream_id("train windows"), static_cast<std::uint32_t>(index));
  const std::uint64_t places = static_cast<std::uint64_t>(sequence_->size() - context_tokens_);
  std::vector<std::int64_t> starts;
  for (std::int64_t row = first_row; row < first_row + rows; ++row) {
    starts.push_back(static_cast<std::int64_t>(at.below(places, static_cast<std::uint32_t>(row))));
  }
  return cut(*sequence_, starts, context_tokens_);
}

ValidationBatches::ValidationBatches(std::shared_ptr<const TokenSequence> sequence, std::int64_t context_tokens,
                                     std::int64_t rows_per_batch, std::int64_t at_most_tokens)
    : sequence_(std::move(sequence)), context_tokens_(context_tokens), rows_per_batch_(rows_per_batch) {
  require_one_window(*sequence_, context_tokens_);
  available_ = (sequence_->size() - 1) / context_tokens_;
  windows_ = std::clamp<std::int64_t>(at_most_tokens / context_tokens_, 1, available_);
}

std::int64_t ValidationBatches::count() const { return (windows_ + rows_per_batch_ - 1) / rows_per_batch_; }

std::int64_t ValidationBatches::tokens() const { return windows_ * context_tokens_; }

Batch ValidationBatches::at(std::int64_t index) const {
  std::vector<std::int64_t> starts;
  const std::int64_t end = std::min(windows_, (index + 1) * rows_per_batch_);
  for (std::int64_t window = index * rows_per_batch_; window < end; ++window)
    starts.push_back(window * available_ / windows_ * context_tokens_);
  return cut(*sequence_, starts, context_tokens_);
}

}  // namespace zbphw
