#include "experiments/trace_export.hpp"

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/npy.hpp"

namespace zbphw {
namespace {

bool ends_with(const std::string& text, const std::string& ending) {
  return text.size() > ending.size() && text.compare(text.size() - ending.size(), ending.size(), ending) == 0;
}

// Calls `use(values, first row, rows)` for one block of rows after the other.
template <class T, class Use>
void for_each_block(const TraceReader& trace, const TraceSeries& series, const Use& use) {
  const std::int64_t block = rows_of_a_block(series);
  for (std::int64_t first = 0; first < series.rows; first += block) {
    const std::int64_t rows = std::min(block, series.rows - first);
    use(trace.read<T>(series.path, first, rows), first, rows);
  }
}

template <class T>
void export_npy(const TraceReader& trace, const TraceSeries& series, const std::string& file) {
  NpyShape shape = {series.rows};
  shape.insert(shape.end(), series.row_shape.begin(), series.row_shape.end());
  NpyWriter<T> writer(file, shape);
  for_each_block<T>(trace, series, [&](const std::vector<T>& values, std::int64_t, std::int64_t) {
    writer.write(values.data(), values.size());
  });
  writer.commit();
}

// "0_2" for the third value of the first of several rows in a row.
std::string column_name(std::int64_t column, const std::vector<std::int64_t>& row_shape) {
  std::string name;
  for (std::size_t i = row_shape.size(); i-- > 0;) {
    const std::string index = std::to_string(column % row_shape[i]);
    name = name.empty() ? index : index + "_" + name;
    column /= row_shape[i];
  }
  return name;
}

std::string csv_names(const TraceSeries& series) {
  if (series.row_shape.empty()) return "row,value\n";
  std::string line = "row";
  for (std::int64_t column = 0; column < series.values_per_row(); ++column) {
    line += "," + column_name(column, series.row_shape);
  }
  return line + "\n";
}

template <class T>
void export_csv(const TraceReader& trace, const TraceSeries& series, const std::string& file) {
  AtomicFile out(file);
  out.write(csv_names(series));
  const auto width = static_cast<std::size_t>(series.values_per_row());
  for_each_block<T>(trace, series, [&](const std::vector<T>& values, std::int64_t first, std::int64_t rows) {
    std::string text;
    for (std::int64_t row = 0; row < rows; ++row) {
      text += std::to_string(first + row);
      for (std::size_t i = 0; i < width; ++i)
        text += "," + value_text(values[static_cast<std::size_t>(row) * width + i]);
      text += "\n";
    }
    out.write(text);
  });
  out.commit();
}

}  // namespace

void export_series(const TraceReader& trace, const std::string& data_set, const std::string& file) {
  const TraceSeries& series = trace.find(data_set);
  const bool npy = ends_with(file, ".npy");
  if (!npy && !ends_with(file, ".csv")) throw usage_error("'" + file + "': allowed: a name that ends in .npy or .csv");
  visit_type(series.type, [&](auto value) {
    using T = decltype(value);
    npy ? export_npy<T>(trace, series, file) : export_csv<T>(trace, series, file);
  });
}

}  // namespace zbphw
