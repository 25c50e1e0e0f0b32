#include "training/data/char_tokenizer.hpp"

#include <catch2/catch.hpp>

using zbphw::CharTokenizer;
using zbphw::TextUnit;
using Tokens = std::vector<std::int32_t>;

TEST_CASE("tokens are numbered in the order of the symbols") {
  const CharTokenizer tokenizer(TextUnit::characters,
                                "b\xC3\xA9"
                                "ab",
                                "t");  // b, e with acute, a, b
  CHECK(tokenizer.vocab() == 3);
  CHECK(tokenizer.symbols() == U"ab\xE9");
  CHECK(tokenizer.encode("b\xC3\xA9"
                         "a",
                         "t") == Tokens{1, 2, 0});
  CHECK(tokenizer.decode({1, 2, 0}) ==
        "b\xC3\xA9"
        "a");
}

TEST_CASE("bytes take any file") {
  const std::string text("\xFF\x00\xC3", 3);
  const CharTokenizer tokenizer(TextUnit::bytes, text, "t");
  CHECK(tokenizer.encode(text, "t") == Tokens{2, 0, 1});
  CHECK(tokenizer.decode({2, 0, 1}) == text);
}

TEST_CASE("an unknown symbol is refused, and so is an unknown token") {
  const CharTokenizer tokenizer(TextUnit::characters, "ab", "t");
  CHECK_THROWS_WITH(tokenizer.encode("abc", "other.txt"), Catch::Contains("other.txt") && Catch::Contains("code 99"));
  CHECK_THROWS_AS(tokenizer.decode({2}), std::out_of_range);
}
