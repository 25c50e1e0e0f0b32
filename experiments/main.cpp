#include <malloc.h>

#include <string>
#include <vector>

#include "base/interrupt.hpp"
#include "experiments/frame.hpp"

int main(int argc, char** argv) {
  // Before the first tensor: glibc gives every block above 32 MiB back to the kernel when it is freed, so each training
  // step would fault all of its pages in again, which costs more than the mathematics (cross-entropy of a batch: 365 ms
  // instead of 17). These two keep freed memory in the process.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);

  zbphw::install_interrupt_handler();
  return zbphw::run_command_line(std::vector<std::string>(argv + 1, argv + argc));
}
