// Every exception as what a user or a script needs of it.
#pragma once

#include <exception>
#include <string>

#include "base/json.hpp"

namespace zbphw {

struct Failure {
  int exit_code = 1;
  std::string kind;     // one of ErrorKind's texts, "memory" or "internal"
  std::string where;    // may be empty
  std::string message;  // one line
};

// Our own errors keep their kind; those of the file system are data errors. What is left has exit code 1: out of memory
// ("memory"), or a defect of zbphw ("internal").
Failure describe_failure(const std::exception_ptr& thrown);

// "where: message", one line.
std::string one_line(const Failure& failure);

// {"error": {"kind", "message", "where"}}
Json failure_json(const Failure& failure);

}  // namespace zbphw
