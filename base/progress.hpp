// A progress line on a terminal, nothing elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace zbphw {

// "1 h 02 min", "3 min 20 s", "45 s"
std::string duration_text(double seconds);

// Rewrites one line on standard error, at most ten times a second: "label  12/500  <note>  ETA 1 min 02 s".
// Silent when standard error is not a terminal or `quiet`. Not thread-safe.
class Progress {
 public:
  Progress(std::string label, std::int64_t total, bool quiet);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // `done` units of the total are finished; `note` is shown beside the count.
  void update(std::int64_t done, const std::string& note);

  // Clears the line, so that a message can be printed in its place.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::string label_;
  std::int64_t total_;
  bool active_;
  std::int64_t first_done_ = -1;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_shown_;
  bool line_open_ = false;
};

}  // namespace zbphw
