#include "experiments/failure.hpp"

#include <c10/util/Exception.h>

#include <algorithm>
#include <filesystem>
#include <new>
#include <system_error>

#include "base/error.hpp"

namespace zbphw {
namespace {

Failure from_error(const Error& error) {
  return {exit_code(error.kind()), to_text(error.kind()), error.where(), error.message()};
}

Failure from_system(const std::string& where, const std::error_code& code) {
  return from_error(data_error(where, code.message()));
}

Failure out_of_memory(const std::string& detail) {
  return {
      1, "memory", "",
      "out of memory" + (detail.empty() ? "" : " (" + detail + ")") + "; a smaller batch, context or model needs less"};
}

Failure defect(const std::string& origin, const std::string& message) {
  return {1, "internal", origin, message + " (this is a defect of zbphw; please report it with the command line)"};
}

// LibTorch's text goes on with a stack trace, and its allocator reports an exhausted memory as any other error.
Failure from_libtorch(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  const std::string first_line = text.substr(0, text.find('\n'));
  const bool memory =
      text.find("allocate memory") != std::string::npos || text.find("out of memory") != std::string::npos;
  return memory ? out_of_memory(first_line) : defect("LibTorch", first_line);
}

}  // namespace

Failure describe_failure(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return from_error(error);
  } catch (const std::filesystem::filesystem_error& error) {
    return from_system(error.path1().string(), error.code());
  } catch (const std::system_error& error) {
    return from_system("", error.code());
  } catch (const std::bad_alloc&) {
    return out_of_memory("");
  } catch (const c10::Error& error) {
    return from_libtorch(error);
  } catch (const std::exception& error) {
    return defect("", error.what());
  } catch (...) {
    return defect("", "an exception of an unknown type");
  }
}

std::string one_line(const Failure& failure) {
  std::string line = failure.where.empty() ? failure.message : failure.where + ": " + failure.message;
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

Json failure_json(const Failure& failure) {
  Json error = Json::object();
  error["kind"] = failure.kind;
  error["message"] = failure.message;
  error["where"] = failure.where;
  Json result = Json::object();
  result["error"] = error;
  return result;
}

}  // namespace zbphw
