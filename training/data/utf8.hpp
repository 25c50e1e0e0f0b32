// UTF-8 (RFC 3629) to code points and back.
#pragma once

#include <string>

namespace zbphw {

// Throws a data Error at `where` with the line and the byte offset of the first invalid sequence: a stray or missing
// continuation byte, an overlong form, a surrogate, a code point above U+10FFFF.
std::u32string decode_utf8(const std::string& text, const std::string& where);

std::string encode_utf8(const std::u32string& code_points);

}  // namespace zbphw
