// Checksums for the one part of an HDF5 file that has none: the heaps that hold the texts of its attributes.
//
// HDF5 1.10.8 checks all other metadata, but a damaged heap makes it loop for ever or write beyond its memory. So a
// trace names its heaps in one attribute, which HDF5 checks, and a reader looks at them before it asks for a text.
// The layout of a heap ("global heap collection") is section III.E of the "HDF5 File Format Specification Version 3.0".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hdf5_file.hpp"

namespace zbphw {

// The attribute's value for a closed file without data rows: address, size and lookup3 checksum of each heap in turn.
// Throws a data Error when the file cannot be read.
std::vector<std::uint64_t> text_heap_checksums(const std::string& path);

// Throws a data Error when a heap of `path` has changed since.
void check_text_heaps(const std::string& path, const std::vector<std::uint64_t>& checksums);

}  // namespace zbphw
