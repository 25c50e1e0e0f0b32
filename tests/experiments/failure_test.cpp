#include "experiments/failure.hpp"

#include <c10/util/Exception.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <new>

#include "base/error.hpp"

using Catch::Contains;
using zbphw::describe_failure;
using zbphw::Failure;

namespace {

template <class Exception>
Failure failure_of(const Exception& exception) {
  return describe_failure(std::make_exception_ptr(exception));
}

}  // namespace

TEST_CASE("our own errors keep kind, place and exit code") {
  const Failure failure = failure_of(zbphw::config_error("a.json: $.adc", "unknown key 'bit'"));
  CHECK(failure.exit_code == 2);
  CHECK(failure.kind == "config");
  CHECK(zbphw::one_line(failure) == "a.json: $.adc: unknown key 'bit'");
  CHECK(zbphw::failure_json(failure).dump() ==
        R"({"error":{"kind":"config","message":"unknown key 'bit'","where":"a.json: $.adc"}})");
  CHECK(failure_of(zbphw::usage_error("x")).exit_code == 2);
  CHECK(failure_of(zbphw::data_error("f", "x")).exit_code == 3);
  CHECK(failure_of(zbphw::numerical_error("f", "x")).exit_code == 4);
  CHECK(failure_of(zbphw::device_error("f", "x")).exit_code == 5);
  CHECK(failure_of(zbphw::Error(zbphw::ErrorKind::interrupted, "", "stopped")).exit_code == 130);
}

TEST_CASE("errors of the file system are data errors that name the file") {
  try {
    (void)std::filesystem::file_size("/nowhere/at/all");
    FAIL("no exception");
  } catch (...) {
    const Failure failure = describe_failure(std::current_exception());
    CHECK(failure.exit_code == 3);
    CHECK(zbphw::one_line(failure) == "/nowhere/at/all: No such file or directory");
  }
}

TEST_CASE("exhausted memory says so, whoever noticed") {
  CHECK(failure_of(std::bad_alloc()).kind == "memory");
  try {
    TORCH_CHECK(false, "DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes");
  } catch (...) {
    const Failure failure = describe_failure(std::current_exception());
    CHECK(failure.kind == "memory");
    CHECK(failure.exit_code == 1);
  }
}

TEST_CASE("what nobody expected is a defect, in one line without a stack trace") {
  try {
    TORCH_CHECK(false, "shapes do not match");
  } catch (...) {
    const std::string line = zbphw::one_line(describe_failure(std::current_exception()));
    CHECK_THAT(line, Contains("LibTorch: shapes do not match") && Contains("defect"));
    CHECK_THAT(line, !Contains("frame #"));
  }
  const Failure failure = failure_of(std::runtime_error("two\nlines"));
  CHECK(failure.kind == "internal");
  CHECK(failure.exit_code == 1);
  CHECK_THAT(zbphw::one_line(failure), Contains("two lines"));
}
