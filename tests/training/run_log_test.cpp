#include "training/run_log.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::RunLog;

namespace {

std::string example_log(const ScratchDirectory& scratch) {
  RunLog log(scratch.path("log.jsonl"));
  log.write("header", {0, 0, 0}, {{"parameters", 3}});
  log.write("train", {1, 10, 0.5}, {{"loss", 2.5}});
  log.write("train", {2, 20, 1}, {{"loss", 2.25}});
  log.write("checkpoint", {2, 20, 1}, zbphw::Json::object());
  log.write("train", {3, 30, 1.5}, {{"loss", 2}});
  log.sync();
  return scratch.path("log.jsonl");
}

}  // namespace

TEST_CASE("lines carry event, step, tokens and time, then their own fields") {
  const ScratchDirectory scratch;
  const std::string text = file_text(example_log(scratch));
  CHECK(text.substr(0, text.find('\n')) == R"({"event":"header","step":0,"tokens":0,"time_s":0.0,"parameters":3})");
  CHECK_THAT(text, Contains(R"({"event":"train","step":2,"tokens":20,"time_s":1.0,"loss":2.25})"
                            "\n"));
}

TEST_CASE("a log is cut back to a step and continued") {
  const ScratchDirectory scratch;
  const std::string path = example_log(scratch);
  const std::string whole = file_text(path);
  CHECK(zbphw::truncate_log(path, 2));
  RunLog(path).write("train", {3, 30, 1.5}, {{"loss", 2}});
  CHECK(file_text(path) == whole);
}

TEST_CASE("a line that a kill cut off goes, whatever it says") {
  const ScratchDirectory scratch;
  const std::string path = example_log(scratch);
  const std::string whole = file_text(path);
  scratch.file("log.jsonl", whole + R"({"event":"train","step":1)");
  CHECK(zbphw::truncate_log(path, 100));
  CHECK(file_text(path) == whole);
}

TEST_CASE("a missing log has no header; a file that is no log is refused") {
  const ScratchDirectory scratch;
  CHECK_FALSE(zbphw::truncate_log(scratch.path("new.jsonl"), 5));
  const std::string bad = scratch.file("bad.jsonl", "{\"event\": \"header\", \"step\": 0}\nhello\n");
  CHECK_THROWS_WITH(zbphw::truncate_log(bad, 5), Contains("bad.jsonl:2: is not a line of a training log"));
  CHECK(file_text(bad) == "{\"event\": \"header\", \"step\": 0}\nhello\n");
}

TEST_CASE("a full disk is a data error") {
  RunLog log("/dev/full");
  CHECK_THROWS_WITH(log.write("train", {}, zbphw::Json::object()), Contains("/dev/full") && Contains("No space left"));
  CHECK_THROWS_WITH(RunLog("/nowhere/log.jsonl"), Contains("No such file"));
}
