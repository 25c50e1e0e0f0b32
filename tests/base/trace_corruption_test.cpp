// Damaged traces: refused with the file's name, or read as they were; never a crash.
#include <sys/mman.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/trace_reader.hpp"
#include "base/trace_writer.hpp"
#include "child_process.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::TraceReader;
using zbphw::TraceWriter;

namespace {

enum Outcome { same, refused, refused_badly, other_content };

void write_small_trace(const std::string& path) {
  TraceWriter trace(path, {"simulate", "0.1.0", 7, R"({"kind": "ideal"})", "2026-01-01T00:00:00Z"});
  const auto energy =
      trace.add_series({"/queries/energy_pj", "pJ", "energy of the query", {}, zbphw::Hdf5Type::float64, 8});
  const auto input = trace.add_series({"/signals/input", "1", "input codes", {3}, zbphw::Hdf5Type::int32, 8});
  for (int row = 0; row < 20; ++row) {
    const double pj = 0.5 * row;
    const std::int32_t codes[] = {row, row + 1, -row};
    trace.append(energy, &pj, 1);
    trace.append(input, codes, 1);
  }
  trace.finish();
}

// All that a reader can see, in one text.
std::string content(const std::string& path) {
  const TraceReader trace(path);
  const zbphw::TraceHeader& header = trace.header();
  std::string text =
      header.command + header.version + std::to_string(header.seed) + header.device_json + header.created_utc;
  for (const zbphw::TraceSeries& series : trace.series()) {
    text += series.path + series.units + series.description + series.shape_text();
    for (const double value : trace.read_all<double>(series.path)) text += std::to_string(value) + ",";
  }
  return text;
}

Outcome open_damaged(const std::string& path, const std::string& expected) {
  try {
    return content(path) == expected ? same : other_content;
  } catch (const zbphw::Error& error) {
    const bool good = error.kind() == zbphw::ErrorKind::data && error.where() == path &&
                      error.message().find('\n') == std::string::npos;
    return good ? refused : refused_badly;
  }
}

// Opens every damaged variant in one child process; a crash or a hang (more than 20 s) fails with its number.
struct DamageCount {
  std::size_t variants = 0;
  std::size_t outcomes[4] = {};
};

// Makes the variant with a number out of the one before, in place: new files are slow on some file systems.
using Damage = std::function<void(std::size_t)>;

DamageCount open_all(const std::string& path, const std::string& expected, std::size_t variants, const Damage& damage) {
  // Shared with the child, so that its progress survives it.
  void* shared = mmap(nullptr, sizeof(DamageCount), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  REQUIRE(shared != MAP_FAILED);
  auto* count = new (shared) DamageCount;
  const int result = run_in_child([&] {
    for (; count->variants < variants; ++count->variants) {
      alarm(20);
      damage(count->variants);
      ++count->outcomes[open_damaged(path, expected)];
    }
    return 0;
  });
  const DamageCount counted = *count;
  munmap(shared, sizeof(DamageCount));
  INFO("variant " << counted.variants << " ended the reader");
  CHECK(result == 0);
  return counted;
}

}  // namespace

TEST_CASE("a trace with any byte damaged is refused or reads as before, and never crashes the reader") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("damaged.h5");
  write_small_trace(path);
  const std::string bytes = file_text(path);
  const std::string expected = content(path);
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out);
  const auto put = [&](std::size_t at, int byte) { file.seekp(static_cast<std::streamoff>(at)).put(char(byte)); };
  const DamageCount count = open_all(path, expected, bytes.size(), [&](std::size_t at) {
    if (at > 0) put(at - 1, bytes[at - 1]);
    put(at, bytes[at] ^ (at % 2 == 0 ? 0xff : 1 << at / 2 % 8));  // all bits, or one
    file.flush();
  });
  CHECK(count.variants == bytes.size());
  CHECK(count.outcomes[refused_badly] == 0);
  CHECK(count.outcomes[other_content] == 0);
  // Unused space makes up less than a quarter of the file; damage elsewhere is seen.
  CHECK(count.outcomes[refused] > bytes.size() * 3 / 4);
}

TEST_CASE("a trace cut off anywhere is refused") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("damaged.h5");
  write_small_trace(path);
  const std::size_t size = std::filesystem::file_size(path);
  constexpr std::size_t step = 7;
  const std::size_t cuts = size / step;
  const auto cut_more = [&](std::size_t cut) { std::filesystem::resize_file(path, size - 1 - cut * step); };
  const DamageCount count = open_all(path, content(path), cuts, cut_more);
  CHECK(count.outcomes[refused] == cuts);
}
