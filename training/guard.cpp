#include "training/guard.hpp"

#include <cmath>

namespace zbphw {
namespace {

void remember(std::deque<double>& history, double value, std::int64_t window) {
  history.push_back(value);
  if (static_cast<std::int64_t>(history.size()) > window) history.pop_front();
}

}  // namespace

void describe(Fields& f, GuardConfig& c) {
  f.flag("skip_jumps", c.skip_jumps, "whether an update is skipped whose loss or gradient norm jumps");
  f.number("jump_deviations", c.jump_deviations, above(0), "standard deviations above the recent mean that are a jump");
  f.integer("window_steps", c.window_steps, between(2, 1e6), "recent updates that mean and deviation are taken over");
  f.integer("abort_after_skips", c.abort_after_skips, between(1, 1e6), "skipped updates in a row that end the run");
}

std::string Guard::look(double loss, double gradient_norm) {
  const std::string found = reason(loss, gradient_norm);
  if (std::isfinite(loss) && std::isfinite(gradient_norm)) {
    jumps_skipped_ += found.empty() ? 0 : 1;
    remember(losses_, loss, config_.window_steps);
    remember(norms_, gradient_norm, config_.window_steps);
  }
  skips_ += found.empty() ? 0 : 1;
  skips_in_a_row_ = found.empty() ? 0 : skips_in_a_row_ + 1;
  return found;
}

std::string Guard::reason(double loss, double gradient_norm) const {
  if (!std::isfinite(loss)) return "the loss is not finite";
  if (!std::isfinite(gradient_norm)) return "the gradient is not finite";
  if (!config_.skip_jumps) return "";
  if (jumps(losses_, loss)) return "the loss jumps";
  if (jumps(norms_, gradient_norm)) return "the gradient norm jumps";
  return "";
}

bool Guard::jumps(const std::deque<double>& history, double value) const {
  const double count = static_cast<double>(history.size());
  if (static_cast<std::int64_t>(history.size()) < config_.window_steps) return false;
  double mean = 0, variance = 0;
  for (const double v : history) mean += v / count;
  for (const double v : history) variance += (v - mean) * (v - mean) / (count - 1);
  return value > mean + config_.jump_deviations * std::sqrt(variance);
}

Json Guard::state() const {
  return {{"losses", losses_},
          {"norms", norms_},
          {"skips", skips_},
          {"jumps_skipped", jumps_skipped_},
          {"skips_in_a_row", skips_in_a_row_}};
}

void Guard::restore(const Json& state) {
  losses_ = state.at("losses").get<std::deque<double>>();
  norms_ = state.at("norms").get<std::deque<double>>();
  skips_ = state.at("skips").get<std::int64_t>();
  jumps_skipped_ = state.at("jumps_skipped").get<std::int64_t>();
  skips_in_a_row_ = state.at("skips_in_a_row").get<std::int64_t>();
}

}  // namespace zbphw
