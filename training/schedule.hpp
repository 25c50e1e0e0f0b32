// The learning rate over a run: linear warm-up, then half a cosine (Loshchilov, Hutter 2017, arXiv:1608.03983).
#pragma once

#include <cstdint>

#include "base/fields.hpp"

namespace zbphw {

struct ScheduleConfig {
  std::int64_t warmup_steps = 500;
  double final_fraction = 0.1;  // of the peak
};

void describe(Fields& f, ScheduleConfig& c);

// The factor on the peak rate for update `step` of [0, total): (step + 1) / warmup_steps while warming up, then from 1
// at warmup_steps down to final_fraction at `total`.
double learning_rate_factor(const ScheduleConfig& config, std::int64_t step, std::int64_t total);

}  // namespace zbphw
