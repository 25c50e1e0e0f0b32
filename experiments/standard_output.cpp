#include "experiments/standard_output.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/error.hpp"

namespace zbphw {

StandardOutput::StandardOutput(bool only_results) : descriptor_(STDOUT_FILENO), redirected_(false) {
  if (!only_results) return;
  const int real = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
  if (real < 0) return;  // standard output is closed: write() will say so
  std::fflush(stdout);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  descriptor_ = real;
  redirected_ = true;
}

StandardOutput::~StandardOutput() {
  if (!redirected_) return;
  std::fflush(stdout);
  dup2(descriptor_, STDOUT_FILENO);
  close(descriptor_);
}

void StandardOutput::write(std::string_view text) {
  std::fflush(stdout);
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) throw data_error("standard output", std::string("cannot be written: ") + std::strerror(errno));
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace zbphw
