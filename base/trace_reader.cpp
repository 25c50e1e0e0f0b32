#include "base/trace_reader.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/error.hpp"
#include "base/hdf5_text_heap.hpp"
#include "base/nearest_name.hpp"

namespace zbphw {
namespace {

void refuse_other_formats(const Hdf5File& file) {
  if (file.has_attribute("/", trace_text_checksums)) {
    check_text_heaps(file.path(), file.integers("/", trace_text_checksums));
  }
  if (!file.has_attribute("/", "format") || file.text("/", "format") != trace_format_name) {
    throw data_error(file.path(),
                     std::string("is not a trace: its attribute 'format' is not \"") + trace_format_name + "\"");
  }
  const std::uint64_t version = file.integer("/", "format_version");
  if (version != trace_format_version) {
    throw data_error(file.path(), "is a trace of format version " + std::to_string(version) +
                                      "; this program reads version " + std::to_string(trace_format_version));
  }
}

TraceHeader read_header(const Hdf5File& file) {
  return {file.text("/", "command"), file.text("/", "version"), file.integer("/", "seed"),
          file.text("/", "device_json"), file.text("/", "created_utc")};
}

TraceSeries read_series(const Hdf5File& file, const std::string& path) {
  const Hdf5DataSet data_set = file.data_set(path);
  return {path,
          file.text(path, "units"),
          file.text(path, "description"),
          data_set.type(),
          data_set.rows(),
          data_set.row_shape(),
          data_set.chunk_rows()};
}

}  // namespace

std::int64_t TraceSeries::values_per_row() const {
  return std::accumulate(row_shape.begin(), row_shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string TraceSeries::shape_text() const {
  std::string text = "[" + std::to_string(rows);
  for (const std::int64_t size : row_shape) text += ", " + std::to_string(size);
  return text + "]";
}

TraceReader::TraceReader(const std::string& path) : file_(Hdf5File::open(path)) {
  refuse_other_formats(file_);
  header_ = read_header(file_);
  for (const std::string& name : file_.data_set_paths()) series_.push_back(read_series(file_, name));
}

bool TraceReader::has_series(const std::string& path) const {
  return std::any_of(series_.begin(), series_.end(), [&](const TraceSeries& s) { return s.path == path; });
}

const TraceSeries& TraceReader::find(const std::string& path) const {
  std::vector<std::string> names;
  for (const TraceSeries& series : series_) {
    if (series.path == path) return series;
    names.push_back(series.path);
  }
  throw data_error(file_.path(), "has no data set " + path + did_you_mean(path, names));
}

Hdf5DataSet TraceReader::checked_rows(const std::string& path, std::int64_t first, std::int64_t count) const {
  const TraceSeries& series = find(path);
  if (first < 0 || count < 0 || first > series.rows || count > series.rows - first) {
    throw data_error(file_.path(), path + " has " + std::to_string(series.rows) + " rows; asked for " +
                                       std::to_string(count) + " from row " + std::to_string(first));
  }
  return file_.data_set(path);
}

double TraceReader::number_attribute(const std::string& object, const std::string& name) const {
  return file_.number(object, name);
}

std::string TraceReader::text_attribute(const std::string& object, const std::string& name) const {
  return file_.text(object, name);
}

}  // namespace zbphw
