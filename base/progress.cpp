#include "base/progress.hpp"

#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <utility>

namespace zbphw {

std::string duration_text(double seconds) {
  const auto whole = static_cast<long long>(std::llround(seconds < 0 ? 0 : seconds));
  char text[64];
  if (whole >= 3600) {
    std::snprintf(text, sizeof text, "%lld h %02lld min", whole / 3600, whole % 3600 / 60);
  } else if (whole >= 60) {
    std::snprintf(text, sizeof text, "%lld min %02lld s", whole / 60, whole % 60);
  } else {
    std::snprintf(text, sizeof text, "%lld s", whole);
  }
  return text;
}

Progress::Progress(std::string label, std::int64_t total, bool quiet)
    : label_(std::move(label)), total_(total), active_(!quiet && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (line_open_) std::fputc('\n', stderr);
}

void Progress::update(std::int64_t done, const std::string& note) {
  if (!active_) return;
  const Clock::time_point now = Clock::now();
  if (first_done_ < 0) {
    first_done_ = done;  // a resumed run starts in the middle: its rate counts from here
    start_ = now;
  }
  const bool last = done >= total_;
  if (line_open_ && !last && now - last_shown_ < std::chrono::milliseconds(100)) return;
  last_shown_ = now;
  const double elapsed = std::chrono::duration<double>(now - start_).count();
  const std::int64_t moved = done - first_done_;
  const std::string eta =
      moved > 0 ? duration_text(elapsed / static_cast<double>(moved) * static_cast<double>(total_ - done)) : "...";
  std::fprintf(stderr, "\r\033[K%s %lld/%lld  %s  ETA %s", label_.c_str(), static_cast<long long>(done),
               static_cast<long long>(total_), note.c_str(), eta.c_str());
  std::fflush(stderr);
  line_open_ = true;
}

void Progress::clear() {
  if (!line_open_) return;
  std::fputs("\r\033[K", stderr);
  line_open_ = false;
}

}  // namespace zbphw
