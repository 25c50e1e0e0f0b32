// Where two traces differ.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/trace_reader.hpp"

namespace zbphw {

// The first difference of one data set.
struct TraceDifference {
  std::string data_set;
  std::string kind;         // "missing", "type", "units", "shape", "value" or "rows"
  std::int64_t row = 0;     // of a value; the first row that only one trace has; else 0
  std::int64_t column = 0;  // of a value: its place in the row, counted in C order
  std::string first;        // as it is in the first trace, as text: "0.5", "float32", "[100, 16]", "absent"
  std::string second;
};

// At most one difference for each data set; those at the lowest row first. Values a and b are the same when
// |a - b| <= tolerance * max(1, |a|, |b|), or both are NaN. Data sets are compared row by row, in blocks.
std::vector<TraceDifference> compare_traces(const TraceReader& first, const TraceReader& second, double tolerance);

// What differs in the headers, but for the time: "seed: 1 and 2". Two runs may differ there and still agree.
std::vector<std::string> compare_headers(const TraceHeader& first, const TraceHeader& second);

}  // namespace zbphw
