// The random streams that cell models share: one name for each purpose.
#pragma once

#include <cstdint>

#include "base/random.hpp"

namespace zbphw {

constexpr std::uint64_t programming_stream = stream_id("cell programming");
constexpr std::uint64_t drift_stream = stream_id("cell drift");

}  // namespace zbphw
