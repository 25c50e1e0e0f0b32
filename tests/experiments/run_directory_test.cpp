#include "experiments/run_directory.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::first_difference;
using zbphw::Json;
using zbphw::RunDirectory;

namespace fs = std::filesystem;

namespace {

const Json config = Json::parse(R"({"kind": "train", "model": {"width": 64}, "rates": [0.001, 2]})");
const Json other = Json::parse(R"({"kind": "train", "model": {"width": 128}, "rates": [0.001, 2]})");

}  // namespace

TEST_CASE("a new run directory is made with its parents and holds the configuration") {
  const ScratchDirectory scratch;
  const RunDirectory run(scratch.path("runs/train/a"), config, false);
  CHECK_FALSE(run.resumed());
  CHECK(run.moved_to().empty());
  CHECK(run.file("log.jsonl") == scratch.path("runs/train/a/log.jsonl"));
  CHECK(Json::parse(file_text(run.file("config.json"))) == config);
}

TEST_CASE("an empty directory is a new run") {
  const ScratchDirectory scratch;
  fs::create_directory(scratch.path("a"));
  CHECK_FALSE(RunDirectory(scratch.path("a/"), config, false).resumed());
}

TEST_CASE("the same configuration resumes, whatever the order of its keys") {
  const ScratchDirectory scratch;
  { const RunDirectory first(scratch.path("a"), config, false); }
  const Json reordered = Json::parse(R"({"rates": [1e-3, 2.0], "model": {"width": 64}, "kind": "train"})");
  CHECK(RunDirectory(scratch.path("a"), reordered, false).resumed());
}

TEST_CASE("another configuration is refused with the first key that differs, and nothing changes") {
  const ScratchDirectory scratch;
  { const RunDirectory first(scratch.path("a"), config, false); }
  const std::string before = file_text(scratch.path("a/config.json"));
  CHECK_THROWS_WITH(RunDirectory(scratch.path("a"), other, false),
                    Contains("model.width: 64 there, 128 now") && Contains("--force"));
  CHECK(file_text(scratch.path("a/config.json")) == before);
}

TEST_CASE("force moves what is there aside under a free name and deletes nothing") {
  const ScratchDirectory scratch;
  { const RunDirectory first(scratch.path("a"), config, false); }
  {
    const RunDirectory second(scratch.path("a/"), other, true);
    CHECK_FALSE(second.resumed());
    CHECK(second.moved_to() == scratch.path("a.old-1"));
  }
  CHECK(RunDirectory(scratch.path("a"), config, true).moved_to() == scratch.path("a.old-2"));
  CHECK(Json::parse(file_text(scratch.path("a.old-1/config.json"))) == config);
  CHECK(Json::parse(file_text(scratch.path("a.old-2/config.json"))) == other);
}

TEST_CASE("a run that is being written is neither opened again nor moved") {
  const ScratchDirectory scratch;
  const RunDirectory first(scratch.path("a"), config, false);
  CHECK_THROWS_WITH(RunDirectory(scratch.path("a"), config, false), Contains("in use"));
  CHECK_THROWS_WITH(RunDirectory(scratch.path("a"), other, true), Contains("in use"));
  CHECK(fs::exists(scratch.path("a/config.json")));
}

TEST_CASE("what is no run directory is refused") {
  const ScratchDirectory scratch;
  scratch.file("file", "text");
  CHECK_THROWS_WITH(RunDirectory(scratch.path("file"), config, false), Contains("is a file"));
  fs::create_directory(scratch.path("full"));
  scratch.file("full/thesis.tex", "years of work");
  CHECK_THROWS_WITH(RunDirectory(scratch.path("full"), config, false), Contains("holds no run"));
  CHECK(file_text(scratch.path("full/thesis.tex")) == "years of work");
  fs::create_directory(scratch.path("broken"));
  scratch.file("broken/config.json", "{\"kind\":");
  CHECK_THROWS_WITH(RunDirectory(scratch.path("broken"), config, false), Contains("ends in the middle"));
}

TEST_CASE("a directory that cannot be made is refused and leaves no parents behind") {
  const ScratchDirectory scratch;
  scratch.file("file", "text");
  CHECK_THROWS_AS(RunDirectory(scratch.path("file/a"), config, false), std::filesystem::filesystem_error);
  CHECK_THROWS_AS(RunDirectory("/proc/zbphw/a", config, false), std::filesystem::filesystem_error);
  // A name that is too long for the file system fails after its parents are made.
  CHECK_THROWS_AS(RunDirectory(scratch.path("new/parent/" + std::string(300, 'x')), config, false),
                  std::filesystem::filesystem_error);
  CHECK_FALSE(fs::exists(scratch.path("new")));
}

TEST_CASE("the first difference names the path") {
  CHECK(first_difference(config, config).empty());
  CHECK(first_difference(Json::parse(R"({"a": [1, {"b": 2}]})"), Json::parse(R"({"a": [1, {"b": 3}]})")) ==
        "a[1].b: 2 there, 3 now");
  CHECK(first_difference(Json::parse("{}"), Json::parse(R"({"a": 1})")) == "a: missing there, 1 now");
  CHECK(first_difference(Json::parse(R"({"a": 1})"), Json::parse("{}")) == "a: 1 there, missing now");
  CHECK(first_difference(Json::parse("[1]"), Json::parse("[1, 2]")) == ": [1] there, [1,2] now");
}
