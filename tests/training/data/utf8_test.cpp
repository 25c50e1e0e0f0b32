#include "training/data/utf8.hpp"

#include <catch2/catch.hpp>

using Catch::Contains;
using zbphw::decode_utf8;
using zbphw::encode_utf8;

// Examples of RFC 3629, section 7, and one of four bytes.
TEST_CASE("published examples decode and encode") {
  CHECK(decode_utf8("A\xE2\x89\xA2\xCE\x91.", "t") == U"\x41\x2262\x391\x2e");
  CHECK(decode_utf8("\xED\x95\x9C\xEA\xB5\xAD\xEC\x96\xB4", "t") == U"\xD55C\xAD6D\xC5B4");
  CHECK(decode_utf8("\xEF\xBB\xBF\xF0\xA3\x8E\xB4", "t") == U"\xFEFF\x233B4");
  CHECK(encode_utf8(U"\x41\x391\x2262\x233B4") == "A\xCE\x91\xE2\x89\xA2\xF0\xA3\x8E\xB4");
}

TEST_CASE("every code point survives the round trip") {
  std::u32string all;
  for (char32_t point = 0; point <= 0x10FFFF; ++point) {
    if (point < 0xD800 || point > 0xDFFF) all.push_back(point);
  }
  CHECK(decode_utf8(encode_utf8(all), "t") == all);
}

TEST_CASE("invalid sequences are refused with line and byte") {
  const std::string invalid = GENERATE(as<std::string>{}, "\x80", "\xC3", "\xC3(", "\xC0\x80", "\xE0\x80\x80",
                                       "\xED\xA0\x80", "\xF4\x90\x80\x80", "\xF8\x88\x80\x80\x80", "\xE2\x89", "\xFF");
  CHECK_THROWS_WITH(decode_utf8("one\ntwo " + invalid, "file.txt"),
                    Contains("file.txt: is not valid UTF-8 at line 2 (byte 8)"));
}
