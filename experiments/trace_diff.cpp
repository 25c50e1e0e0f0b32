#include "experiments/trace_diff.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "experiments/trace_export.hpp"

namespace zbphw {
namespace {

template <class T>
bool same(T a, T b, double tolerance) {
  if (a == b) return true;
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(a) && std::isnan(b)) return true;
  }
  const auto x = static_cast<double>(a);
  const auto y = static_cast<double>(b);
  return std::abs(x - y) <= tolerance * std::max({1.0, std::abs(x), std::abs(y)});
}

template <class T>
std::optional<TraceDifference> first_value(const TraceReader& first, const TraceReader& second,
                                           const TraceSeries& series, std::int64_t rows, double tolerance) {
  const std::int64_t width = series.values_per_row();
  const std::int64_t block = rows_of_a_block(series);
  for (std::int64_t start = 0; start < rows; start += block) {
    const std::int64_t count = std::min(block, rows - start);
    const std::vector<T> a = first.read<T>(series.path, start, count);
    const std::vector<T> b = second.read<T>(series.path, start, count);
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (same(a[i], b[i], tolerance)) continue;
      const auto at = static_cast<std::int64_t>(i);
      return TraceDifference{series.path, "value", start + at / width, at % width, value_text(a[i]), value_text(b[i])};
    }
  }
  return std::nullopt;
}

std::optional<TraceDifference> compare_series(const TraceReader& first, const TraceReader& second,
                                              const std::string& path, double tolerance) {
  if (!first.has_series(path)) return TraceDifference{path, "missing", 0, 0, "absent", "present"};
  if (!second.has_series(path)) return TraceDifference{path, "missing", 0, 0, "present", "absent"};
  const TraceSeries& a = first.find(path);
  const TraceSeries& b = second.find(path);
  if (a.type != b.type) return TraceDifference{path, "type", 0, 0, to_text(a.type), to_text(b.type)};
  if (a.units != b.units) return TraceDifference{path, "units", 0, 0, a.units, b.units};
  if (a.row_shape != b.row_shape) return TraceDifference{path, "shape", 0, 0, a.shape_text(), b.shape_text()};
  const std::int64_t common = std::min(a.rows, b.rows);
  const auto compare = [&](auto value) { return first_value<decltype(value)>(first, second, a, common, tolerance); };
  std::optional<TraceDifference> difference = visit_type(a.type, compare);
  if (!difference && a.rows != b.rows) {
    difference = TraceDifference{path, "rows", common, 0, std::to_string(a.rows), std::to_string(b.rows)};
  }
  return difference;
}

std::vector<std::string> all_paths(const TraceReader& first, const TraceReader& second) {
  std::vector<std::string> paths;
  for (const TraceReader* trace : {&first, &second}) {
    for (const TraceSeries& series : trace->series()) paths.push_back(series.path);
  }
  std::sort(paths.begin(), paths.end());
  paths.erase(std::unique(paths.begin(), paths.end()), paths.end());
  return paths;
}

}  // namespace

std::vector<TraceDifference> compare_traces(const TraceReader& first, const TraceReader& second, double tolerance) {
  std::vector<TraceDifference> differences;
  for (const std::string& path : all_paths(first, second)) {
    if (const auto difference = compare_series(first, second, path, tolerance)) differences.push_back(*difference);
  }
  std::stable_sort(differences.begin(), differences.end(),
                   [](const TraceDifference& a, const TraceDifference& b) { return a.row < b.row; });
  return differences;
}

std::vector<std::string> compare_headers(const TraceHeader& first, const TraceHeader& second) {
  std::vector<std::string> notes;
  const auto compare = [&](const std::string& name, const std::string& a, const std::string& b) {
    if (a != b) notes.push_back(name + ": " + a + " and " + b);
  };
  compare("command", first.command, second.command);
  compare("version", first.version, second.version);
  compare("seed", std::to_string(first.seed), std::to_string(second.seed));
  if (first.device_json != second.device_json) notes.emplace_back("device_json: two different devices");
  return notes;
}

}  // namespace zbphw
