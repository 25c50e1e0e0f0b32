// A long row of tokens that batches are cut from, wherever it is kept.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace zbphw {

class TokenSequence {
 public:
  virtual ~TokenSequence() = default;
  virtual std::int64_t size() const = 0;
  // Copies tokens [first, first + count) to `out`. The range must be inside [0, size()).
  virtual void copy(std::int64_t first, std::int64_t count, std::int64_t* out) const = 0;
};

// Tokens in memory.
class TokenVector : public TokenSequence {
 public:
  explicit TokenVector(std::vector<std::int32_t> tokens);
  std::int64_t size() const override;
  void copy(std::int64_t first, std::int64_t count, std::int64_t* out) const override;

 private:
  std::vector<std::int32_t> tokens_;
};

// The entropy of the single-token frequencies, in nats: what a model reaches that knows only how often each token
// comes. Tokens must lie in [0, vocab).
double unigram_entropy(const TokenSequence& tokens, std::int64_t vocab);

}  // namespace zbphw
