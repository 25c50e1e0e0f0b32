// Reads traces (docs/trace_format.md), finished, growing or left behind by a killed writer.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/hdf5_file.hpp"
#include "base/trace_writer.hpp"

namespace zbphw {

struct TraceSeries {
  std::string path;
  std::string units;
  std::string description;
  Hdf5Type type = Hdf5Type::float64;
  std::int64_t rows = 0;
  std::vector<std::int64_t> row_shape;
  std::int64_t chunk_rows = 0;

  std::int64_t values_per_row() const;
  std::string shape_text() const;  // "[1000, 16]"
};

// All members throw a data Error that names the file. The number of rows is that of the moment of opening; open anew to
// see what a writer has added since.
class TraceReader {
 public:
  // Refuses what is not a trace of format version 1.
  explicit TraceReader(const std::string& path);

  const std::string& path() const { return file_.path(); }
  const TraceHeader& header() const { return header_; }
  // Sorted by path.
  const std::vector<TraceSeries>& series() const { return series_; }
  bool has_series(const std::string& path) const;
  // Throws with the nearest name when there is none.
  const TraceSeries& find(const std::string& path) const;

  // Rows [first, first + count) of a series, converted to T: [count, row_shape...] in C order.
  template <class T>
  std::vector<T> read(const std::string& path, std::int64_t first, std::int64_t count) const {
    const Hdf5DataSet data_set = checked_rows(path, first, count);
    std::vector<T> values(static_cast<std::size_t>(count * data_set.values_per_row()));
    data_set.read(first, count, values.data());
    return values;
  }
  template <class T>
  std::vector<T> read_all(const std::string& path) const {
    return read<T>(path, 0, find(path).rows);
  }

  // Extra attributes, such as "t_s" of a tile's read.
  double number_attribute(const std::string& object, const std::string& name) const;
  std::string text_attribute(const std::string& object, const std::string& name) const;

 private:
  Hdf5DataSet checked_rows(const std::string& path, std::int64_t first, std::int64_t count) const;

  Hdf5File file_;
  TraceHeader header_;
  std::vector<TraceSeries> series_;
};

}  // namespace zbphw
