// A text as training data: tokens, the split, and what identifies it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fields.hpp"
#include "training/data/char_tokenizer.hpp"
#include "training/data/token_sequence.hpp"

namespace zbphw {

struct DataConfig {
  std::string path;
  TextUnit unit = TextUnit::characters;
  std::int64_t validation_tokens = 160000;
};

void describe(Fields& f, DataConfig& c);

struct Dataset {
  CharTokenizer tokenizer;
  std::shared_ptr<const TokenSequence> train;       // all but the last validation_tokens
  std::shared_ptr<const TokenSequence> validation;  // the last validation_tokens
  double unigram_entropy = 0;                       // of the training tokens, nats
  std::string fingerprint;                          // 16 hex digits, of the symbols, the tokens and the split
};

// Reads, tokenizes and splits. Throws a data Error that names the file when it cannot be read, is empty, is not UTF-8,
// or is too short for one context (and the token that follows it) in each part.
Dataset load_dataset(const DataConfig& config, std::int64_t context_tokens);

}  // namespace zbphw
