// NumPy's .npy files: arrays of numbers in and out.
//
// The format is "numpy.lib.format" of NumPy's manual (NEP 1): versions 1.0, 2.0 and 3.0 are read, 1.0 is written.
// Every failure is a data Error that names the file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/atomic_file.hpp"

namespace zbphw {

using NpyShape = std::vector<std::int64_t>;

template <class T>
struct NpyArray {
  NpyShape shape;         // empty for a single number
  std::vector<T> values;  // C order
};

// "[3, 4]"
std::string shape_text(const NpyShape& shape);

// Reads numbers of any width, little-endian float32 or float64 and signed or unsigned integers, converted to T (double
// or float; integers beyond 2^53, or 2^24 for float, are rounded). Refuses Fortran order, big-endian, object and all
// other types, and a file that is shorter or longer than its shape says.
template <class T>
NpyArray<T> read_npy(const std::string& path);
extern template NpyArray<double> read_npy(const std::string& path);
extern template NpyArray<float> read_npy(const std::string& path);

// Throws an Error that names both shapes unless `shape` is `expected`, where -1 stands for any size.
void require_shape(const std::string& path, const NpyShape& shape, const NpyShape& expected);

// NumPy's name of a type, as it stands in the file: "<f8".
template <class T>
const char* npy_type_name();
template <>
const char* npy_type_name<double>();
template <>
const char* npy_type_name<float>();
template <>
const char* npy_type_name<std::int64_t>();
template <>
const char* npy_type_name<std::int32_t>();
template <>
const char* npy_type_name<std::uint8_t>();

// Writes an array piece by piece; the file appears with commit(), when all values of `shape` have been written.
template <class T>
class NpyWriter {
 public:
  NpyWriter(const std::string& path, const NpyShape& shape);
  void write(const T* values, std::size_t count);
  void commit();

 private:
  std::string path_;
  AtomicFile file_;
  std::uint64_t missing_;  // values still to be written
};
extern template class NpyWriter<double>;
extern template class NpyWriter<float>;
extern template class NpyWriter<std::int64_t>;
extern template class NpyWriter<std::int32_t>;
extern template class NpyWriter<std::uint8_t>;

template <class T>
void write_npy(const std::string& path, const NpyShape& shape, const T* values) {
  std::size_t count = 1;
  for (const std::int64_t size : shape) count *= static_cast<std::size_t>(size);
  NpyWriter<T> writer(path, shape);
  writer.write(values, count);
  writer.commit();
}

}  // namespace zbphw
