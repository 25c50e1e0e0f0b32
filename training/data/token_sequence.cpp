#include "training/data/token_sequence.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace zbphw {

TokenVector::TokenVector(std::vector<std::int32_t> tokens) : tokens_(std::move(tokens)) {}

std::int64_t TokenVector::size() const { return static_cast<std::int64_t>(tokens_.size()); }

void TokenVector::copy(std::int64_t first, std::int64_t count, std::int64_t* out) const {
  std::copy_n(tokens_.begin() + first, count, out);
}

double unigram_entropy(const TokenSequence& tokens, std::int64_t vocab) {
  constexpr std::int64_t chunk_size = 1 << 16;
  std::vector<std::int64_t> counts(static_cast<std::size_t>(vocab));
  std::vector<std::int64_t> chunk(chunk_size);
  for (std::int64_t first = 0; first < tokens.size(); first += chunk_size) {
    const std::int64_t count = std::min(chunk_size, tokens.size() - first);
    tokens.copy(first, count, chunk.data());
    for (std::int64_t i = 0; i < count; ++i) ++counts[static_cast<std::size_t>(chunk[static_cast<std::size_t>(i)])];
  }
  double entropy = 0;
  for (const std::int64_t count : counts) {
    if (count == 0) continue;
    const double share = static_cast<double>(count) / static_cast<double>(tokens.size());
    entropy -= share * std::log(share);
  }
  return entropy;
}

}  // namespace zbphw
