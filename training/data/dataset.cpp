#include "training/data/dataset.hpp"

#include <cstdio>
#include <vector>

#include "base/error.hpp"
#include "training/data/text_file.hpp"

namespace zbphw {
namespace {

// FNV-1a over 32-bit words, byte by byte: recognises a changed corpus, does not resist an attacker.
class Fingerprint {
 public:
  void add(std::uint32_t word) {
    for (int shift = 0; shift < 32; shift += 8) {
      hash_ ^= (word >> shift) & 0xFF;
      hash_ *= 0x100000001b3ULL;
    }
  }
  std::string text() const {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash_));
    return digits;
  }

 private:
  std::uint64_t hash_ = 0xcbf29ce484222325ULL;
};

std::string fingerprint_of(const CharTokenizer& tokenizer, const std::vector<std::int32_t>& tokens,
                           std::int64_t validation_tokens) {
  Fingerprint fingerprint;
  for (const char32_t symbol : tokenizer.symbols()) fingerprint.add(symbol);
  for (const std::int32_t token : tokens) fingerprint.add(static_cast<std::uint32_t>(token));
  fingerprint.add(static_cast<std::uint32_t>(validation_tokens));
  return fingerprint.text();
}

}  // namespace

void describe(Fields& f, DataConfig& c) {
  f.required().text("path", c.path, "a text file, plain or gzip");
  f.choice("unit", c.unit, "what a token is: a character of UTF-8 text, or a byte");
  f.integer("validation_tokens", c.validation_tokens, between(2, 1 << 30),
            "length of the text's end that is kept for validation");
}

Dataset load_dataset(const DataConfig& config, std::int64_t context_tokens) {
  const std::string text = read_text_file(config.path);
  CharTokenizer tokenizer(config.unit, text, config.path);
  const std::vector<std::int32_t> tokens = tokenizer.encode(text, config.path);
  const std::int64_t total = static_cast<std::int64_t>(tokens.size());
  const std::int64_t needed = context_tokens + 1 + config.validation_tokens;
  if (total < needed) {
    throw data_error(config.path, "has " + std::to_string(total) + " tokens; needed: at least " +
                                      std::to_string(needed) + " (a context of " + std::to_string(context_tokens) +
                                      ", the token after it, and " + std::to_string(config.validation_tokens) +
                                      " for validation)");
  }
  if (config.validation_tokens < context_tokens + 1) {
    throw config_error("data.validation_tokens", "got " + std::to_string(config.validation_tokens) +
                                                     "; allowed: at least " + std::to_string(context_tokens + 1) +
                                                     ", a context and the token after it");
  }
  const auto split = tokens.end() - config.validation_tokens;
  const auto train = std::make_shared<TokenVector>(std::vector<std::int32_t>(tokens.begin(), split));
  const auto validation = std::make_shared<TokenVector>(std::vector<std::int32_t>(split, tokens.end()));
  const double entropy = unigram_entropy(*train, tokenizer.vocab());
  const std::string fingerprint = fingerprint_of(tokenizer, tokens, config.validation_tokens);
  return {std::move(tokenizer), train, validation, entropy, fingerprint};
}

}  // namespace zbphw
