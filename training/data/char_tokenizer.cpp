#include "training/data/char_tokenizer.hpp"

#include <set>

#include "base/error.hpp"
#include "training/data/utf8.hpp"

namespace zbphw {

CharTokenizer::CharTokenizer(TextUnit unit, const std::string& text, const std::string& where) : unit_(unit) {
  const std::u32string all = units(text, where);
  const std::set<char32_t> distinct(all.begin(), all.end());
  symbols_.assign(distinct.begin(), distinct.end());
  for (std::size_t i = 0; i < symbols_.size(); ++i) token_of_[symbols_[i]] = static_cast<std::int32_t>(i);
}

std::vector<std::int32_t> CharTokenizer::encode(const std::string& text, const std::string& where) const {
  std::vector<std::int32_t> tokens;
  for (const char32_t symbol : units(text, where)) {
    const auto found = token_of_.find(symbol);
    if (found == token_of_.end()) {
      throw data_error(where, "has a symbol that the tokenizer does not know: code " + std::to_string(symbol));
    }
    tokens.push_back(found->second);
  }
  return tokens;
}

std::string CharTokenizer::decode(const std::vector<std::int32_t>& tokens) const {
  std::u32string symbols;
  for (const std::int32_t token : tokens) symbols.push_back(symbols_.at(static_cast<std::size_t>(token)));
  return unit_ == TextUnit::bytes ? std::string(symbols.begin(), symbols.end()) : encode_utf8(symbols);
}

std::u32string CharTokenizer::units(const std::string& text, const std::string& where) const {
  if (unit_ == TextUnit::characters) return decode_utf8(text, where);
  std::u32string bytes;
  bytes.reserve(text.size());
  for (const char c : text) bytes.push_back(static_cast<unsigned char>(c));
  return bytes;
}

}  // namespace zbphw
