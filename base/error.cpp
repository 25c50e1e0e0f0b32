#include "base/error.hpp"

namespace zbphw {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
    case ErrorKind::config:
      return 2;
    case ErrorKind::data:
      return 3;
    case ErrorKind::numerical:
      return 4;
    case ErrorKind::device:
      return 5;
    case ErrorKind::interrupted:
      return 130;
  }
  return 1;
}

const char* to_text(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::config:
      return "config";
    case ErrorKind::data:
      return "data";
    case ErrorKind::numerical:
      return "numerical";
    case ErrorKind::device:
      return "device";
    case ErrorKind::interrupted:
      return "interrupted";
  }
  return "unknown";
}

Error::Error(ErrorKind kind, const std::string& where, const std::string& message)
    : std::runtime_error(where.empty() ? message : where + ": " + message),
      kind_(kind),
      where_(where),
      message_(message) {}

Error usage_error(const std::string& message) { return {ErrorKind::usage, "", message}; }

Error config_error(const std::string& where, const std::string& message) { return {ErrorKind::config, where, message}; }

Error data_error(const std::string& where, const std::string& message) { return {ErrorKind::data, where, message}; }

Error numerical_error(const std::string& where, const std::string& message) {
  return {ErrorKind::numerical, where, message};
}

Error device_error(const std::string& where, const std::string& message) { return {ErrorKind::device, where, message}; }

}  // namespace zbphw
