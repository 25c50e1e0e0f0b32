// The libraries and the machine that a result was computed with.
#pragma once

#include <string>

#include "base/json.hpp"

namespace zbphw {

// Which BLAS library serves LibTorch's matrix products in this process.
struct BlasInfo {
  std::string name;           // "OpenBLAS 0.3.21, OpenMP threads, /usr/lib/.../libopenblasp-r0.3.21.so"
  bool is_reference = false;  // Netlib's unoptimised one: about 20 times slower
};

BlasInfo find_blas();

// Sets the number of threads within an operation. LibTorch of Debian starts with one.
void set_threads(int threads);

// Versions of everything, threads and CPU capability, as an object of texts and numbers: `zbphw --version --json`, and
// the header of a training log.
Json describe_environment();

}  // namespace zbphw
