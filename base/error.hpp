// The one exception type that leaves a zbphw function on purpose.
//
// An Error has a kind, which the command maps to the process's exit code, a message of one line that says what is
// wrong and what is allowed, and where it was found (file, JSON path, line, or the number of a query).
#pragma once

#include <stdexcept>
#include <string>

namespace zbphw {

enum class ErrorKind {
  usage,        // the command line
  config,       // a JSON configuration: device, model, train, sweep
  data,         // an input or output file: text, shard, checkpoint, trace
  numerical,    // diverged, did not converge, not finite
  device,       // an analog device or a plugin
  interrupted,  // Ctrl-C or SIGTERM; what was done so far is saved
};

// 0 done, 2 usage or config, 3 data, 4 numerical, 5 device, 130 interrupted.
int exit_code(ErrorKind kind);

// The kind's name as scripts see it in `--json` output.
const char* to_text(ErrorKind kind);

class Error : public std::runtime_error {
 public:
  // `where` may be empty. what() is "where: message", or the message alone.
  Error(ErrorKind kind, const std::string& where, const std::string& message);

  ErrorKind kind() const { return kind_; }
  const std::string& where() const { return where_; }
  const std::string& message() const { return message_; }

 private:
  ErrorKind kind_;
  std::string where_;
  std::string message_;
};

Error usage_error(const std::string& message);
Error config_error(const std::string& where, const std::string& message);
Error data_error(const std::string& where, const std::string& message);
Error numerical_error(const std::string& where, const std::string& message);
Error device_error(const std::string& where, const std::string& message);

}  // namespace zbphw
