// Time that training took: over all starts of a run, and update by update.
#pragma once

#include <chrono>
#include <vector>

namespace zbphw {

class Stopwatch {
 public:
  // Continues from the seconds of earlier starts.
  void start(double earlier_s) {
    earlier_s_ = earlier_s;
    start_ = lap_start_ = Clock::now();
  }

  double total_s() const { return earlier_s_ + seconds_since(start_); }

  // One update's time runs from begin_lap() to end_lap(); validations and checkpoints are outside.
  void begin_lap() { lap_start_ = Clock::now(); }
  void end_lap() { laps_s_.push_back(seconds_since(lap_start_)); }

  // Of this start's updates; 0 before the first.
  double median_lap_s() const;
  // The mean of the last `count` updates; 0 before the first.
  double recent_lap_s(std::size_t count) const;

 private:
  using Clock = std::chrono::steady_clock;
  static double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }

  double earlier_s_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point lap_start_ = start_;
  std::vector<double> laps_s_;
};

}  // namespace zbphw
