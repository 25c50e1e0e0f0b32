// How many CPUs this process may use.
#pragma once

namespace zbphw {

// The smaller of the scheduler's affinity mask and the control group's CPU quota, at least 1.
// LibTorch of Debian starts with one thread whatever the machine, so the command sets the count from this.
int allowed_cpus();

}  // namespace zbphw
