// The texts of `zbphw --help` and `zbphw <command> --help`.
#pragma once

#include <string>

#include "experiments/command.hpp"

namespace zbphw {

// All commands with their one-line summaries.
std::string general_help();

// Usage, options and examples of one command.
std::string command_help(const std::string& name, const Command& command);

}  // namespace zbphw
