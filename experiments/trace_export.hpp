// A trace's data set as a CSV or .npy file.
#pragma once

#include <algorithm>
#include <charconv>
#include <string>
#include <type_traits>

#include "base/trace_reader.hpp"

namespace zbphw {

// Writes one data set to `file`, whole or not at all. The name's ending says as what:
// - .npy: an array [rows, row_shape...] of the data set's own type;
// - .csv: a line of names, then a line a row: the row's number and its values in C order, with as many digits as give
//   the same number again. The names are "row" and "value", or the indexes in the row: "0", "1" or "0_0", "0_1".
// Throws a usage Error for another ending.
void export_series(const TraceReader& trace, const std::string& data_set, const std::string& file);

// The shortest text that reads back as the same number.
template <class T>
std::string value_text(T value) {
  char text[64];
  if constexpr (std::is_same_v<T, std::uint8_t>) return std::to_string(value);  // to_chars would take it for a letter
  const std::to_chars_result end = std::to_chars(text, text + sizeof text, value);
  return {text, end.ptr};
}

// How many rows to hold in memory at a time: about half a megabyte, at least one row.
inline std::int64_t rows_of_a_block(const TraceSeries& series) {
  return std::max<std::int64_t>(1, (1 << 16) / series.values_per_row());
}

}  // namespace zbphw
