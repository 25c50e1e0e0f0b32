// Numbers as a person reads them.
#pragma once

#include <cstdint>
#include <string>

namespace zbphw {

std::string fixed(double value, int digits);

std::string three_digits(double value);

// 1234567 as 1,234,567.
std::string grouped(std::int64_t value);

// 1536 as "1.5 KiB"; powers of 1024.
std::string bytes_text(std::int64_t bytes);

}  // namespace zbphw
