// The checksum of HDF5's metadata: Bob Jenkins' lookup3, "hashlittle" (burtleburtle.net/bob/c/lookup3.c, public
// domain).
#pragma once

#include <cstddef>
#include <cstdint>

namespace zbphw {

// hashlittle(bytes, size, 0). Reads byte by byte, so it is the same on any machine.
std::uint32_t lookup3(const unsigned char* bytes, std::size_t size);

}  // namespace zbphw
