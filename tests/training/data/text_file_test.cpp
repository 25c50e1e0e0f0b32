#include "training/data/text_file.hpp"

#include <zlib.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::read_text_file;

namespace {

std::string gzip_file(const ScratchDirectory& scratch, const std::string& name, const std::string& text) {
  gzFile file = gzopen(scratch.path(name).c_str(), "wb");
  gzwrite(file, text.data(), static_cast<unsigned>(text.size()));
  gzclose(file);
  return scratch.path(name);
}

}  // namespace

TEST_CASE("plain and gzip files give the same text, larger than one chunk") {
  const ScratchDirectory scratch;
  std::string text;
  for (int i = 0; i < 100000; ++i) text += std::to_string(i * 7919) + "\n";
  CHECK(read_text_file(scratch.file("a.txt", text)) == text);
  CHECK(read_text_file(gzip_file(scratch, "a.gz", text)) == text);
}

TEST_CASE("files that are no text are refused by name") {
  const ScratchDirectory scratch;
  CHECK_THROWS_WITH(read_text_file(scratch.path("none")), Contains("none") && Contains("No such file"));
  CHECK_THROWS_WITH(read_text_file(scratch.path()), Contains("is a directory"));
  CHECK_THROWS_WITH(read_text_file(scratch.file("empty", "")), Contains("empty: is empty"));
  CHECK_THROWS_WITH(read_text_file(gzip_file(scratch, "e.gz", "")), Contains("is empty"));

  std::string bytes = file_text(gzip_file(scratch, "a.gz", std::string(100000, 'x') + "end"));
  CHECK_THROWS_WITH(read_text_file(scratch.file("cut.gz", bytes.substr(0, bytes.size() / 2))),
                    Contains("cut.gz: ends in the middle"));
  bytes[bytes.size() - 6] = static_cast<char>(bytes[bytes.size() - 6] ^ 1);  // inside the checksum
  CHECK_THROWS_WITH(read_text_file(scratch.file("flip.gz", bytes)), Contains("flip.gz: cannot be read"));
}
