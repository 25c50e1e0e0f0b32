#include "training/data/utf8.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/error.hpp"

namespace zbphw {
namespace {

// The number of bytes that a sequence starting with `lead` has; 0 when no sequence starts so.
std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;  // C0 and C1 would be overlong
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;  // F5 and above are beyond U+10FFFF
  return 0;
}

bool allowed(char32_t point, std::size_t length) {
  constexpr char32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool surrogate = point >= 0xD800 && point < 0xE000;
  return point >= smallest[length] && point <= 0x10FFFF && !surrogate;
}

// The code point at `text[at]`; its length goes to `length`, 0 when the bytes are invalid.
char32_t code_point_at(const std::string& text, std::size_t at, std::size_t& length) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  length = sequence_length(byte(at));
  if (length == 1) return byte(at);
  if (length == 0 || at + length > text.size()) return length = 0;
  char32_t point = byte(at) & (0x7FU >> length);
  for (std::size_t i = at + 1; i < at + length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) return length = 0;
    point = (point << 6) | (byte(i) & 0x3FU);
  }
  if (!allowed(point, length)) length = 0;
  return point;
}

}  // namespace

std::u32string decode_utf8(const std::string& text, const std::string& where) {
  std::u32string points;
  points.reserve(text.size());
  std::size_t length = 0;
  for (std::size_t at = 0; at < text.size(); at += length) {
    points.push_back(code_point_at(text, at, length));
    if (length == 0) {
      const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
      throw data_error(where, "is not valid UTF-8 at line " + std::to_string(line) + " (byte " + std::to_string(at) +
                                  "); convert it, or set data.unit to \"bytes\"");
    }
  }
  return points;
}

std::string encode_utf8(const std::u32string& code_points) {
  std::string text;
  for (const char32_t point : code_points) {
    if (point < 0x80) {
      text += static_cast<char>(point);
      continue;
    }
    const std::size_t following = point < 0x800 ? 1 : (point < 0x10000 ? 2 : 3);
    const char32_t lead_mark = following == 1 ? 0xC0 : (following == 2 ? 0xE0 : 0xF0);
    text += static_cast<char>(lead_mark | (point >> (6 * following)));
    for (std::size_t i = following; i-- > 0;) text += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
  }
  return text;
}

}  // namespace zbphw
