// The tokenizer without training: a token is a symbol of the text, numbered in the order of the symbols' codes.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/fields.hpp"

namespace zbphw {

// What a symbol is: a Unicode code point of UTF-8 text, or a byte of any file.
enum class TextUnit { characters, bytes };

template <>
struct Choices<TextUnit> {
  static std::vector<std::pair<TextUnit, std::string>> all() {
    return {{TextUnit::characters, "characters"}, {TextUnit::bytes, "bytes"}};
  }
};

class CharTokenizer {
 public:
  // Knows the symbols of `text`. `where` names the text in errors. Throws a data Error when `text` is not UTF-8
  // (characters only).
  CharTokenizer(TextUnit unit, const std::string& text, const std::string& where);

  std::int64_t vocab() const { return static_cast<std::int64_t>(symbols_.size()); }
  const std::u32string& symbols() const { return symbols_; }  // sorted; token i is symbols()[i]

  // Throws a data Error at `where` when the text has a symbol that the tokenizer does not know.
  std::vector<std::int32_t> encode(const std::string& text, const std::string& where) const;

  // Tokens outside [0, vocab) throw std::out_of_range.
  std::string decode(const std::vector<std::int32_t>& tokens) const;

 private:
  std::u32string units(const std::string& text, const std::string& where) const;

  TextUnit unit_;
  std::u32string symbols_;
  std::unordered_map<char32_t, std::int32_t> token_of_;
};

}  // namespace zbphw
