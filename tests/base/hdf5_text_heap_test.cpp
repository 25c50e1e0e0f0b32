#include "base/hdf5_text_heap.hpp"

#include <catch2/catch.hpp>
#include <fstream>

#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Hdf5File;

namespace {

// The second text is too large for the heap that holds the first.
std::string write_texts(const ScratchDirectory& scratch, const std::string& first) {
  const std::string path = scratch.path("a.h5");
  Hdf5File file = Hdf5File::create(path);
  file.set_text("/", "first", first);
  file.set_text("/", "second", std::string(100000, 'x'));
  file.close();
  return path;
}

}  // namespace

TEST_CASE("every heap is found with its place and size") {
  const ScratchDirectory scratch;
  const std::string path = write_texts(scratch, "needle");
  const std::vector<std::uint64_t> checksums = zbphw::text_heap_checksums(path);
  REQUIRE(checksums.size() == 6);
  const std::size_t needle = file_text(path).find("needle");
  CHECK(needle > checksums[0]);
  CHECK(needle < checksums[0] + checksums[1]);
  CHECK(checksums[1] == 4096);
  CHECK(checksums[4] > 100000);
  CHECK_NOTHROW(zbphw::check_text_heaps(path, checksums));
}

TEST_CASE("one changed letter of a text, or a missing end, is seen") {
  const ScratchDirectory scratch;
  const std::string path = write_texts(scratch, "needle");
  const std::vector<std::uint64_t> checksums = zbphw::text_heap_checksums(path);
  std::string bytes = file_text(path);
  const std::string cut = scratch.file("cut.h5", bytes.substr(0, 3000));
  CHECK_THROWS_WITH(zbphw::check_text_heaps(cut, checksums), Contains("cut.h5: is damaged: it ends before"));
  bytes[bytes.find("needle")] = 'N';
  const std::string changed = scratch.file("changed.h5", bytes);
  CHECK_THROWS_WITH(zbphw::check_text_heaps(changed, checksums), Contains("changed.h5: is damaged: the texts"));
}
