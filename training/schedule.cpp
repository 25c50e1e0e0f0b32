#include "training/schedule.hpp"

#include <algorithm>
#include <cmath>

namespace zbphw {

void describe(Fields& f, ScheduleConfig& c) {
  f.integer("warmup_steps", c.warmup_steps, between(0, 1e9), "updates in which the rate rises to its peak");
  f.number("final_fraction", c.final_fraction, between(0, 1), "of the peak that the cosine ends at");
}

double learning_rate_factor(const ScheduleConfig& config, std::int64_t step, std::int64_t total) {
  if (step < config.warmup_steps) return static_cast<double>(step + 1) / static_cast<double>(config.warmup_steps);
  const double length = static_cast<double>(std::max<std::int64_t>(1, total - config.warmup_steps));
  const double progress = std::min(1.0, static_cast<double>(step - config.warmup_steps) / length);
  constexpr double pi = 3.14159265358979323846;
  return config.final_fraction + (1 - config.final_fraction) * 0.5 * (1 + std::cos(pi * progress));
}

}  // namespace zbphw
