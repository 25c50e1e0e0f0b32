// The frame around every command: from the words of a command line to a printed result and an exit code.
#pragma once

#include <string>
#include <vector>

namespace zbphw {

// Runs `zbphw <arguments>` and returns the exit code. Results go to standard output (with --json one object, on failure
// too), everything else to standard error; a failure is one line. Throws nothing.
int run_command_line(const std::vector<std::string>& arguments);

}  // namespace zbphw
