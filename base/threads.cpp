#include "base/threads.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <string>

namespace zbphw {
namespace {

// cpu.max of control groups version 2: "<quota or max> <period>", in microseconds. 0 when there is no quota.
int quota_cpus() {
  std::ifstream in("/sys/fs/cgroup/cpu.max");
  std::string quota;
  double period = 0;
  if (!(in >> quota >> period) || quota == "max" || period <= 0) return 0;
  return static_cast<int>(std::ceil(std::stod(quota) / period));
}

}  // namespace

int allowed_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  const int by_affinity = sched_getaffinity(0, sizeof mask, &mask) == 0 ? CPU_COUNT(&mask) : 1;
  const int by_quota = quota_cpus();
  return std::max(1, by_quota > 0 ? std::min(by_affinity, by_quota) : by_affinity);
}

}  // namespace zbphw
