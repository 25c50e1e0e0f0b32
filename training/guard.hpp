// Decides whether an update is applied: not when loss or gradient are not finite, and not when they jump.
//
// An update that is skipped costs its tokens and changes no weight. Many in a row mean that the run has failed.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "base/fields.hpp"
#include "base/json.hpp"

namespace zbphw {

struct GuardConfig {
  bool skip_jumps = true;
  double jump_deviations = 6;
  std::int64_t window_steps = 128;
  std::int64_t abort_after_skips = 10;
};

void describe(Fields& f, GuardConfig& c);

class Guard {
 public:
  explicit Guard(const GuardConfig& config) : config_(config) {}

  // Looks at one update, in order. Returns "" when it may be applied, and otherwise the reason to skip it:
  // - loss or gradient norm is not finite;
  // - either lies more than jump_deviations standard deviations above its mean over the last window_steps finite
  //   updates (once there are that many).
  std::string look(double loss, double gradient_norm);

  std::int64_t skips() const { return skips_; }
  std::int64_t jumps_skipped() const { return jumps_skipped_; }
  std::int64_t skips_in_a_row() const { return skips_in_a_row_; }
  bool should_abort() const { return skips_in_a_row_ >= config_.abort_after_skips; }

  // For checkpoints.
  Json state() const;
  void restore(const Json& state);

 private:
  std::string reason(double loss, double gradient_norm) const;
  bool jumps(const std::deque<double>& history, double value) const;

  GuardConfig config_;
  std::deque<double> losses_;  // of the last finite updates, skipped jumps included, so that a new level is accepted
  std::deque<double> norms_;
  std::int64_t skips_ = 0;
  std::int64_t jumps_skipped_ = 0;
  std::int64_t skips_in_a_row_ = 0;
};

}  // namespace zbphw
