#include "hw/plugin/shared_arrays.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr std::size_t line_bytes = 64;
constexpr std::size_t guard_bytes = line_bytes;
constexpr int guard_byte = 0xA5;

std::size_t whole_lines(std::size_t bytes) { return (bytes + line_bytes - 1) / line_bytes * line_bytes; }

std::size_t bytes_of(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(float); }

Error no_memory(const char* what) {
  return device_error("shared memory", std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

ArrayLayout::ArrayLayout(const std::vector<std::int64_t>& sent_counts, const std::vector<std::int64_t>& wanted_counts) {
  for (const std::int64_t count : sent_counts) {
    sent.push_back(bytes);
    bytes += whole_lines(bytes_of(count));
  }
  for (const std::int64_t count : wanted_counts) {
    wanted.push_back(bytes);
    bytes += whole_lines(bytes_of(count) + guard_bytes);
  }
}

SharedArrays::SharedArrays() : file_(memfd_create("zbphw plugin", MFD_CLOEXEC)) {
  if (file_ < 0) throw no_memory("cannot be made");
}

SharedArrays::SharedArrays(int file) : file_(file) {}

SharedArrays::~SharedArrays() {
  if (base_ != nullptr) munmap(base_, mapped_);
  close(file_);
}

void SharedArrays::grow(std::size_t bytes) {
  if (bytes <= size_) return;
  const std::size_t wanted = std::max(bytes, 2 * size_);
  if (ftruncate(file_, static_cast<off_t>(wanted)) != 0) throw no_memory("cannot grow");
  size_ = wanted;
  map(wanted);
}

void SharedArrays::map(std::size_t bytes) {
  if (bytes <= mapped_) return;
  if (base_ != nullptr) munmap(base_, mapped_);
  base_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file_, 0);
  mapped_ = base_ == MAP_FAILED ? 0 : bytes;
  if (base_ == MAP_FAILED) {
    base_ = nullptr;
    throw no_memory("cannot be mapped");
  }
}

void SharedArrays::set_guard(std::size_t offset, std::int64_t count) const {
  std::memset(at(offset + bytes_of(count)), guard_byte, guard_bytes);
}

bool SharedArrays::guard_is_whole(std::size_t offset, std::int64_t count) const {
  const auto* guard = reinterpret_cast<const unsigned char*>(at(offset + bytes_of(count)));
  return std::all_of(guard, guard + guard_bytes, [](unsigned char byte) { return byte == guard_byte; });
}

}  // namespace zbphw
