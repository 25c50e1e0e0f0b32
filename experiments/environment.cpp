#include "experiments/environment.hpp"

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <hdf5.h>
#include <torch/version.h>

#include <cstdlib>
#include <filesystem>
#include <systemc>

#include "base/threads.hpp"
#include "base/version.hpp"

namespace zbphw {
namespace {

template <class Function>
Function find_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The file that a symbol comes from, links resolved: on Debian libblas.so.3 is a link to what the machine's owner
// chose.
std::string library_of(const char* symbol) {
  void* address = dlsym(RTLD_DEFAULT, symbol);
  Dl_info info = {};
  if (address == nullptr || dladdr(address, &info) == 0) return "";
  std::error_code ignored;
  const std::filesystem::path real = std::filesystem::canonical(info.dli_fname, ignored);
  return ignored ? info.dli_fname : real.string();
}

// "OpenBLAS 0.3.21 NO_LAPACKE DYNAMIC_ARCH ..." -> its first two words.
std::string first_two_words(const std::string& text) {
  const std::size_t first = text.find(' ');
  return text.substr(0, first == std::string::npos ? first : text.find(' ', first + 1));
}

std::string cpu_capability() {
  const std::string config = at::show_config();
  const std::string key = "CPU capability usage: ";
  const std::size_t start = config.find(key);
  if (start == std::string::npos) return "unknown";
  return config.substr(start + key.size(), config.find('\n', start) - start - key.size());
}

std::string hdf5_version() {
  unsigned major = 0;
  unsigned minor = 0;
  unsigned release = 0;
  H5get_libversion(&major, &minor, &release);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(release);
}

}  // namespace

// Judged by where LibTorch's sgemm_ comes from: an OpenBLAS that is merely loaded (by LAPACK, say) serves nobody.
BlasInfo find_blas() {
  const std::string path = library_of("sgemm_");
  if (path.empty()) return {"built into LibTorch", false};
  if (path.find("openblas") != std::string::npos) {
    const auto config = find_symbol<const char* (*)()>("openblas_get_config");
    const auto parallel = find_symbol<int (*)()>("openblas_get_parallel");
    const int mode = parallel != nullptr ? parallel() : 0;
    const char* threading = mode == 2 ? "OpenMP threads" : (mode == 1 ? "pthread threads" : "one thread");
    return {(config != nullptr ? first_two_words(config()) : "OpenBLAS") + ", " + threading + ", " + path, false};
  }
  const bool is_reference = path.find("/blas/libblas.so") != std::string::npos;
  return {(is_reference ? "reference BLAS, " : "") + path, is_reference};
}

void set_threads(int threads) { at::set_num_threads(threads); }

Json describe_environment() {
  Json info = Json::object();
  info["version"] = version();
  info["commit"] = commit();
  info["compiler"] = compiler();
  info["libtorch"] = TORCH_VERSION;
  info["systemc"] = sc_core::sc_release();
  info["hdf5"] = hdf5_version();
  info["blas"] = find_blas().name;
  info["threads"] = at::get_num_threads();
  info["cpus_allowed"] = allowed_cpus();
  info["cpu_capability"] = cpu_capability();
  return info;
}

}  // namespace zbphw
