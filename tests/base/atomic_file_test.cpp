#include "base/atomic_file.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using zbphw::AtomicFile;
using zbphw::Error;

TEST_CASE("a committed file is whole and leaves no partial file") {
  const ScratchDirectory scratch;
  zbphw::write_file_atomically(scratch.path("a"), "hello");
  CHECK(file_text(scratch.path("a")) == "hello");
  CHECK_FALSE(std::filesystem::exists(scratch.path("a.partial")));
}

TEST_CASE("without commit the old file stays") {
  const ScratchDirectory scratch;
  scratch.file("a", "old");
  {
    AtomicFile file(scratch.path("a"));
    file.write("new");
  }
  CHECK(file_text(scratch.path("a")) == "old");
  CHECK_FALSE(std::filesystem::exists(scratch.path("a.partial")));
}

TEST_CASE("a missing directory is a data error that names the file") {
  const ScratchDirectory scratch;
  REQUIRE_THROWS_WITH(AtomicFile(scratch.path("none/a")), Catch::Contains("none/a") && Catch::Contains("No such file"));
}

TEST_CASE("a full disk is a data error and the old file stays") {
  const ScratchDirectory scratch;
  scratch.file("a", "old");
  // The partial name leads to /dev/full, where every write fails with "no space left".
  std::filesystem::create_symlink("/dev/full", scratch.path("a.partial"));
  REQUIRE_THROWS_WITH(zbphw::write_file_atomically(scratch.path("a"), "new"), Catch::Contains("No space left"));
  CHECK(file_text(scratch.path("a")) == "old");
}
