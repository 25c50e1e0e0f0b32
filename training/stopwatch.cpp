#include "training/stopwatch.hpp"

#include <algorithm>
#include <numeric>

namespace zbphw {

double Stopwatch::median_lap_s() const {
  if (laps_s_.empty()) return 0;
  std::vector<double> sorted = laps_s_;
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

double Stopwatch::recent_lap_s(std::size_t count) const {
  const std::size_t used = std::min(count, laps_s_.size());
  if (used == 0) return 0;
  return std::accumulate(laps_s_.end() - static_cast<std::ptrdiff_t>(used), laps_s_.end(), 0.0) /
         static_cast<double>(used);
}

}  // namespace zbphw
