#include "base/hdf5_text_heap.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>

#include "base/error.hpp"
#include "base/lookup3.hpp"

namespace zbphw {
namespace {

// Signature, version 1 and three reserved bytes; then the size in 8 bytes.
constexpr std::string_view heap_start("GCOL\1\0\0\0", 8);
constexpr std::size_t heap_header_size = 16;
// The specification's least size of a heap.
constexpr std::uint64_t least_heap_size = 4096;

std::uint32_t checksum_of(std::string_view bytes) {
  return lookup3(reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
}

std::uint64_t size_of_heap(std::string_view header) {
  std::uint64_t size = 0;
  for (std::size_t i = heap_header_size; i-- > heap_start.size();) {
    size = (size << 8) | static_cast<unsigned char>(header[i]);
  }
  return size;
}

std::ifstream open_bytes(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw data_error(path, std::string("cannot be opened: ") + std::strerror(errno));
  return in;
}

}  // namespace

std::vector<std::uint64_t> text_heap_checksums(const std::string& path) {
  std::ifstream in = open_bytes(path);
  const std::string bytes{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  const std::string_view all = bytes;
  std::vector<std::uint64_t> checksums;
  std::size_t at = all.find(heap_start);
  while (at != std::string_view::npos && at + heap_header_size <= all.size()) {
    const std::uint64_t size = size_of_heap(all.substr(at, heap_header_size));
    const bool plausible = size >= least_heap_size && size <= all.size() - at;
    if (plausible) {
      checksums.insert(checksums.end(), {at, size, checksum_of(all.substr(at, static_cast<std::size_t>(size)))});
    }
    at = all.find(heap_start, at + (plausible ? static_cast<std::size_t>(size) : 1));
  }
  return checksums;
}

void check_text_heaps(const std::string& path, const std::vector<std::uint64_t>& checksums) {
  std::ifstream in = open_bytes(path);
  in.seekg(0, std::ios::end);
  const auto file_size = static_cast<std::uint64_t>(in.tellg());
  for (std::size_t i = 0; i + 2 < checksums.size(); i += 3) {
    const std::uint64_t address = checksums[i];
    const std::uint64_t size = checksums[i + 1];
    if (address > file_size || size > file_size - address) {
      throw data_error(path, "is damaged: it ends before the texts of its attributes");
    }
    std::string bytes(static_cast<std::size_t>(size), '\0');
    in.seekg(static_cast<std::streamoff>(address));
    in.read(bytes.data(), static_cast<std::streamsize>(size));
    if (!in || checksum_of(bytes) != checksums[i + 2]) {
      throw data_error(path,
                       "is damaged: the texts of its attributes do not match their checksum (software that changes "
                       "attributes must delete the attribute text_checksums)");
    }
  }
}

}  // namespace zbphw
