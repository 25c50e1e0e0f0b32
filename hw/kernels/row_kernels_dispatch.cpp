#include <cstdlib>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/nearest_name.hpp"
#include "hw/kernels/row_kernels.hpp"

namespace zbphw {

namespace baseline {
extern const RowKernels kernels;
}
#if defined(ZBPHW_WIDE_KERNELS)
namespace avx2 {
extern const RowKernels kernels;
}
namespace avx512 {
extern const RowKernels kernels;
}
#endif

namespace {

std::vector<const RowKernels*> runnable_kernels() {
  std::vector<const RowKernels*> found = {&baseline::kernels};
#if defined(ZBPHW_WIDE_KERNELS)
  __builtin_cpu_init();
  const bool has_avx2 = __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  const bool has_avx512 = __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                          __builtin_cpu_supports("avx512dq") != 0 && __builtin_cpu_supports("avx512vl") != 0;
  if (has_avx2) found.push_back(&avx2::kernels);
  if (has_avx2 && has_avx512) found.push_back(&avx512::kernels);
#endif
  return found;
}

const RowKernels& choose() {
  const std::vector<const RowKernels*> found = runnable_kernels();
  const char* forced = std::getenv("ZBPHW_ISA");
  if (forced == nullptr) return *found.back();
  std::vector<std::string> names;
  for (const RowKernels* kernels : found) {
    if (std::string(kernels->instruction_set) == forced) return *kernels;
    names.emplace_back(kernels->instruction_set);
  }
  throw config_error("ZBPHW_ISA",
                     std::string("got ") + forced + "; this processor and build have " + join_choices(names));
}

}  // namespace

const RowKernels& row_kernels() {
  static const RowKernels& chosen = choose();
  return chosen;
}

std::int64_t available_row_kernels(const RowKernels** out, std::int64_t capacity) {
  std::int64_t count = 0;
  for (const RowKernels* kernels : runnable_kernels()) {
    if (count < capacity) out[count++] = kernels;
  }
  return count;
}

std::int64_t softmax_probe_scratch(std::int64_t length, std::int64_t probes) {
  return 9 * padded_length(length) + probes * sign_words(length);
}

}  // namespace zbphw
