#include "training/checkpoint.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Checkpoint;

namespace fs = std::filesystem;

namespace {

Checkpoint example(std::int64_t step) {
  Checkpoint checkpoint;
  checkpoint.step = step;
  checkpoint.model = {{"w", at::arange(6, at::kFloat).view({2, 3}) + step}};
  checkpoint.optimizer = {{"m", at::arange(4, at::kDouble) * step}};
  checkpoint.state = {{"tokens", 100 * step}};
  return checkpoint;
}

std::vector<std::string> names(const std::vector<std::string>& paths) {
  std::vector<std::string> result;
  for (const std::string& path : paths) result.push_back(fs::path(path).filename().string());
  return result;
}

using Names = std::vector<std::string>;

}  // namespace

TEST_CASE("a checkpoint comes back as it was") {
  const ScratchDirectory scratch;
  const std::string path = save_checkpoint(scratch.path("c"), example(7));
  const Checkpoint back = zbphw::load_checkpoint(path);
  CHECK(back.step == 7);
  CHECK(back.state.at("tokens") == 700);
  REQUIRE(back.model.size() == 1);
  CHECK(at::equal(back.model[0].second, example(7).model[0].second));
  CHECK(at::equal(back.optimizer[0].second, example(7).optimizer[0].second));
}

TEST_CASE("only committed checkpoints count, the newest first") {
  const ScratchDirectory scratch;
  CHECK(zbphw::committed_checkpoints(scratch.path("none")).empty());
  for (const int step : {9, 10, 100}) save_checkpoint(scratch.path("c"), example(step));
  CHECK(names(zbphw::committed_checkpoints(scratch.path("c"))) ==
        Names{"step_000000100", "step_000000010", "step_000000009"});
  fs::remove(scratch.path("c/step_000000100/committed.json"));
  CHECK(names(zbphw::committed_checkpoints(scratch.path("c"))).front() == "step_000000010");
}

TEST_CASE("saving again over an unfinished save works") {
  const ScratchDirectory scratch;
  scratch.file("x", "");
  fs::create_directories(scratch.path("c/step_000000003"));
  scratch.file("c/step_000000003/model.safetensors.partial", "half");
  save_checkpoint(scratch.path("c"), example(3));
  CHECK_NOTHROW(zbphw::load_checkpoint(scratch.path("c/step_000000003")));
  CHECK_FALSE(fs::exists(scratch.path("c/step_000000003/model.safetensors.partial")));
}

TEST_CASE("pruning keeps the newest and clears unfinished saves") {
  const ScratchDirectory scratch;
  for (const int step : {1, 2, 3}) save_checkpoint(scratch.path("c"), example(step));
  fs::create_directories(scratch.path("c/step_000000004"));
  zbphw::prune_checkpoints(scratch.path("c"), 2);
  CHECK(names(zbphw::committed_checkpoints(scratch.path("c"))) == Names{"step_000000003", "step_000000002"});
  CHECK_FALSE(fs::exists(scratch.path("c/step_000000004")));
  CHECK_FALSE(fs::exists(scratch.path("c/step_000000001")));
}

TEST_CASE("a flipped, missing or shortened byte anywhere is refused with the file named") {
  const ScratchDirectory scratch;
  const std::string path = save_checkpoint(scratch.path("c"), example(5));
  for (const char* name : {"model.safetensors", "optimizer.safetensors", "state.json"}) {
    const std::string file = path + "/" + name;
    const std::string good = file_text(file);
    for (std::size_t at = 0; at < good.size(); at += 11) {
      std::string bad = good;
      bad[at] = static_cast<char>(bad[at] ^ 0x10);
      std::ofstream(file, std::ios::binary) << bad;
      CHECK_THROWS_WITH(zbphw::load_checkpoint(path), Contains(name) && Contains("is damaged"));
    }
    std::ofstream(file, std::ios::binary) << good.substr(0, good.size() - 1);
    CHECK_THROWS_WITH(zbphw::load_checkpoint(path), Contains(name) && Contains("is damaged"));
    fs::remove(file);
    CHECK_THROWS_WITH(zbphw::load_checkpoint(path), Contains(name) && Contains("is missing"));
    std::ofstream(file, std::ios::binary) << good;
  }
  CHECK_NOTHROW(zbphw::load_checkpoint(path));
  std::ofstream(path + "/committed.json") << R"({"format_version": 2})";
  CHECK_THROWS_WITH(zbphw::load_checkpoint(path), Contains("committed.json"));
  std::ofstream(path + "/committed.json") << "{";
  CHECK_THROWS_WITH(zbphw::load_checkpoint(path), Contains("committed.json"));
}

TEST_CASE("a save that fails leaves older checkpoints") {
  const ScratchDirectory scratch;
  save_checkpoint(scratch.path("c"), example(1));
  std::ofstream(scratch.path("blocked")) << "a file where a directory is needed";
  CHECK_THROWS_WITH(save_checkpoint(scratch.path("blocked"), example(2)), Contains("cannot be created"));
  CHECK_NOTHROW(zbphw::load_checkpoint(zbphw::committed_checkpoints(scratch.path("c")).front()));
}

TEST_CASE("tensors are copied by name, and what does not fit is named") {
  const at::Tensor target = at::zeros({2}, at::kFloat).requires_grad_();
  const at::Tensor source = at::arange(2, at::kFloat);
  zbphw::copy_tensors({{"w", source}}, {{"w", target}}, "here");
  CHECK(at::equal(target, source));
  CHECK_THROWS_WITH(zbphw::copy_tensors({}, {{"w", target}}, "here"), Contains("here: lacks the tensor 'w'"));
  CHECK_THROWS_WITH(zbphw::copy_tensors({{"w", at::zeros({3})}}, {{"w", target}}, "here"), Contains("another shape"));
  CHECK_THROWS_WITH(zbphw::copy_tensors({{"w", source}, {"v", source}}, {{"w", target}}, "here"), Contains("'v'"));
}
