// HDF5 files through the C API: files, groups, attributes, and extendable compressed data sets.
//
// Every failure is a data Error that names the file, the object in it and HDF5's innermost message; HDF5 itself prints
// nothing. The library is not thread-safe: one thread at a time may use any object of this header, whatever the file.
#pragma once

#include <hdf5.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/hdf5_live_driver.hpp"

namespace zbphw {

enum class Hdf5Type { float64, float32, int64, int32, uint8 };

// "float64", "int32": the names of NumPy.
const char* to_text(Hdf5Type type);
std::size_t bytes_of(Hdf5Type type);

// The type of a C++ value.
template <class T>
constexpr Hdf5Type hdf5_type_of();
template <>
constexpr Hdf5Type hdf5_type_of<double>() {
  return Hdf5Type::float64;
}
template <>
constexpr Hdf5Type hdf5_type_of<float>() {
  return Hdf5Type::float32;
}
template <>
constexpr Hdf5Type hdf5_type_of<std::int64_t>() {
  return Hdf5Type::int64;
}
template <>
constexpr Hdf5Type hdf5_type_of<std::int32_t>() {
  return Hdf5Type::int32;
}
template <>
constexpr Hdf5Type hdf5_type_of<std::uint8_t>() {
  return Hdf5Type::uint8;
}

// Calls `visitor` with a value of the C++ type that `type` stands for, and returns what it returns.
template <class Visitor>
auto visit_type(Hdf5Type type, const Visitor& visitor) {
  switch (type) {
    case Hdf5Type::float32:
      return visitor(float{});
    case Hdf5Type::int64:
      return visitor(std::int64_t{});
    case Hdf5Type::int32:
      return visitor(std::int32_t{});
    case Hdf5Type::uint8:
      return visitor(std::uint8_t{});
    case Hdf5Type::float64:
      break;
  }
  return visitor(double{});
}

// Owns one HDF5 identifier of any kind.
class Hdf5Handle {
 public:
  using Close = herr_t (*)(hid_t);
  Hdf5Handle() = default;
  Hdf5Handle(hid_t id, Close close) : id_(id), close_(close) {}
  Hdf5Handle(Hdf5Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Hdf5Handle& operator=(Hdf5Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Hdf5Handle() { reset(); }

  hid_t get() const { return id_; }
  bool valid() const { return id_ >= 0; }
  // False when HDF5 could not close it.
  bool reset() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }

 private:
  hid_t id_ = -1;
  Close close_ = nullptr;
};

struct Hdf5DataSetSpec {
  Hdf5Type type = Hdf5Type::float64;
  std::vector<std::int64_t> row_shape;  // of one row; empty for one number a row
  std::int64_t chunk_rows = 1;          // rows that are compressed together
};

// A data set [rows, row_shape...] that grows by whole rows.
class Hdf5DataSet {
 public:
  const std::string& path() const { return path_; }
  Hdf5Type type() const { return type_; }
  std::int64_t rows() const { return rows_; }
  const std::vector<std::int64_t>& row_shape() const { return row_shape_; }
  std::int64_t chunk_rows() const { return chunk_rows_; }  // 0 when the data set is not chunked
  std::int64_t values_per_row() const;

  // `data` holds rows x values_per_row() values of type(), in C order.
  void append(const void* data, std::int64_t rows);
  // Brings all appended rows into the file. In a live file, readers see them from here on.
  void flush();

  // Rows [first, first + count), converted to T, into `out` [count, row_shape...]. Throws when the data set has fewer.
  template <class T>
  void read(std::int64_t first, std::int64_t count, T* out) const {
    read_as(hdf5_type_of<T>(), first, count, out);
  }

 private:
  friend class Hdf5File;
  void transfer(std::int64_t first, std::int64_t count, Hdf5Type type, const void* source, void* target) const;
  void read_as(Hdf5Type type, std::int64_t first, std::int64_t count, void* out) const;
  std::vector<hsize_t> extent(std::int64_t rows) const;

  std::string file_path_;
  std::string path_;
  Hdf5Handle handle_;
  Hdf5Type type_ = Hdf5Type::float64;
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> row_shape_;
  std::int64_t chunk_rows_ = 0;
};

class Hdf5File {
 public:
  // A new, empty file. Throws when `path` exists.
  static Hdf5File create(const std::string& path);
  // An existing file, to add objects and attributes. Nobody else may read it at that time.
  static Hdf5File open_to_add(const std::string& path);
  // For reading, also while a live writer is at work on the file.
  static Hdf5File open(const std::string& path);
  // For appending to data sets; readable at any moment (base/hdf5_live_driver.hpp). Objects and attributes cannot be
  // added: HDF5 keeps a file consistent between two writes only while its data sets grow.
  static Hdf5File open_live(const std::string& path, const LiveWriteObserver* observer = nullptr);

  const std::string& path() const { return path_; }

  // Makes the groups on the way.
  Hdf5DataSet create_data_set(const std::string& path, const Hdf5DataSetSpec& spec);
  void create_group(const std::string& path);
  Hdf5DataSet data_set(const std::string& path) const;
  bool exists(const std::string& path) const;
  // Absolute paths of all data sets, sorted.
  std::vector<std::string> data_set_paths() const;

  // Attributes; `object` is the path of a group or a data set, "/" for the file's own.
  void set_text(const std::string& object, const std::string& name, const std::string& value);
  void set_number(const std::string& object, const std::string& name, double value);
  void set_integer(const std::string& object, const std::string& name, std::uint64_t value);
  // A list of at least one integer.
  void set_integers(const std::string& object, const std::string& name, const std::vector<std::uint64_t>& values);
  bool has_attribute(const std::string& object, const std::string& name) const;
  // Throw when the attribute is missing or of another kind.
  std::string text(const std::string& object, const std::string& name) const;
  double number(const std::string& object, const std::string& name) const;
  std::uint64_t integer(const std::string& object, const std::string& name) const;
  std::vector<std::uint64_t> integers(const std::string& object, const std::string& name) const;

  // Closes the file; all data sets must be gone. Without it the destructor closes, and cannot tell of a failure.
  void close();

 private:
  Hdf5File(std::string path, Hdf5Handle handle) : path_(std::move(path)), handle_(std::move(handle)) {}
  // A value of the type `stored` in the file and `given` in memory; several with `count`, as a list.
  void write_attribute(const std::string& object, const std::string& name, hid_t stored, hid_t given, const void* value,
                       hsize_t count = 0);
  Hdf5Handle open_attribute(const std::string& object, const std::string& name, H5T_class_t kind,
                            hssize_t* count = nullptr) const;

  std::string path_;
  Hdf5Handle handle_;
};

}  // namespace zbphw
