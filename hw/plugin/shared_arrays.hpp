// Arrays of one call in memory that two processes share, and how they lie there: each begins at a cache line, those
// that are sent first, then those that are wanted, each of these followed by a guard that shows a write beyond its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace zbphw {

// Offsets in bytes.
struct ArrayLayout {
  ArrayLayout(const std::vector<std::int64_t>& sent_counts, const std::vector<std::int64_t>& wanted_counts);

  std::vector<std::size_t> sent;
  std::vector<std::size_t> wanted;
  std::size_t bytes = 0;  // of everything
};

class SharedArrays {
 public:
  // New memory that belongs to no file's name. Throws a device Error.
  SharedArrays();
  // The memory of another process.
  explicit SharedArrays(int file);
  ~SharedArrays();
  SharedArrays(const SharedArrays&) = delete;
  SharedArrays& operator=(const SharedArrays&) = delete;

  int file() const { return file_; }

  // Makes room; only for the process that made the memory. Throws a device Error.
  void grow(std::size_t bytes);
  // Sees at least `bytes` of memory that was grown. Throws a device Error.
  void map(std::size_t bytes);

  float* at(std::size_t offset) const { return reinterpret_cast<float*>(static_cast<char*>(base_) + offset); }

  // Writes the guard behind an array of `count` floats, and tells whether it is still there.
  void set_guard(std::size_t offset, std::int64_t count) const;
  bool guard_is_whole(std::size_t offset, std::int64_t count) const;

 private:
  int file_ = -1;
  void* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::size_t size_ = 0;
};

}  // namespace zbphw
