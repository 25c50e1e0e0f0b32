#include "base/trace_writer.hpp"

#include <sys/resource.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>

#include "base/error.hpp"
#include "base/trace_reader.hpp"
#include "child_process.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Hdf5Type;
using zbphw::TraceHeader;
using zbphw::TraceReader;
using zbphw::TraceWriter;

namespace {

const TraceHeader header = {"simulate", "0.1.0 (abc)", 18446744073709551615ULL, R"({"kind": "ideal"})", ""};

// Row r of the test's series holds r and r + 1/2.
void append_rows(TraceWriter& trace, TraceWriter::Series series, int first, int count) {
  std::vector<double> values;
  for (int row = first; row < first + count; ++row) values.insert(values.end(), {double(row), row + 0.5});
  trace.append(series, values.data(), count);
}

bool rows_are_right(const TraceReader& trace, const std::string& path) {
  const std::vector<double> values = trace.read_all<double>(path);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != static_cast<double>(i) / 2) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("a finished trace gives back its header, its series and their attributes") {
  const ScratchDirectory scratch;
  {
    TraceWriter trace(scratch.path("t.h5"), header);
    const auto time = trace.add_series({"/queries/t_start_ns", "ns", "simulated start", {}});
    const auto block = trace.add_series({"/queries/block", "1", "index of the block", {}, Hdf5Type::int32});
    const auto tile = trace.add_series({"/tiles/0/at_0_us", "uS", "conductances", {2, 3}, Hdf5Type::float32});
    trace.set_attribute("/tiles/0/at_0_us", "t_s", 20.5);
    trace.set_attribute("/queries/block", "names", "[\"softmax\"]");
    const double times[] = {1, 2, 3};
    const std::int32_t blocks[] = {0, 1, 2};
    const float conductances[] = {1, 2, 3, 4, 5, 6};
    trace.append(time, times, 3);
    trace.append(block, blocks, 3);
    trace.append(tile, conductances, 1);
    CHECK(trace.rows(time) == 3);
    trace.finish();
    CHECK(trace.rows(time) == 3);
  }
  const TraceReader trace(scratch.path("t.h5"));
  CHECK(trace.header().command == "simulate");
  CHECK(trace.header().version == "0.1.0 (abc)");
  CHECK(trace.header().seed == 18446744073709551615ULL);
  CHECK(trace.header().device_json == R"({"kind": "ideal"})");
  CHECK(trace.header().created_utc.size() == std::string("2026-01-01T00:00:00Z").size());
  REQUIRE(trace.series().size() == 3);
  CHECK(trace.find("/queries/t_start_ns").units == "ns");
  CHECK(trace.find("/queries/t_start_ns").description == "simulated start");
  CHECK(trace.find("/tiles/0/at_0_us").shape_text() == "[1, 2, 3]");
  CHECK(trace.number_attribute("/tiles/0/at_0_us", "t_s") == 20.5);
  CHECK(trace.text_attribute("/queries/block", "names") == "[\"softmax\"]");
  CHECK(trace.read_all<double>("/queries/t_start_ns") == std::vector<double>{1, 2, 3});
  CHECK(trace.read<std::int32_t>("/queries/block", 1, 2) == std::vector<std::int32_t>{1, 2});
  CHECK(trace.read_all<float>("/tiles/0/at_0_us") == std::vector<float>{1, 2, 3, 4, 5, 6});
}

TEST_CASE("rows wait for a whole chunk, and a flush brings the rest") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("t.h5");
  TraceWriter trace(path, header);
  const auto series = trace.add_series({"/signals/x", "1", "values", {2}, Hdf5Type::float64, 8});
  CHECK_FALSE(std::filesystem::exists(path));
  trace.start();
  CHECK(TraceReader(path).find("/signals/x").rows == 0);
  append_rows(trace, series, 0, 7);
  CHECK(TraceReader(path).find("/signals/x").rows == 0);
  append_rows(trace, series, 7, 10);  // 17 rows: two chunks, one row waits
  CHECK(TraceReader(path).find("/signals/x").rows == 16);
  trace.flush();
  CHECK(TraceReader(path).find("/signals/x").rows == 17);
  append_rows(trace, series, 17, 7);  // fills the chunk that the flush began
  CHECK(TraceReader(path).find("/signals/x").rows == 24);
  append_rows(trace, series, 24, 100);
  trace.finish();
  const TraceReader reader(path);
  CHECK(reader.find("/signals/x").rows == 124);
  CHECK(rows_are_right(reader, "/signals/x"));
}

TEST_CASE("chunks hold 64 KiB, at most 1024 rows and at least one") {
  const ScratchDirectory scratch;
  TraceWriter trace(scratch.path("t.h5"), header);
  trace.add_series({"/signals/narrow", "1", "d", {}});
  trace.add_series({"/signals/wide", "1", "d", {256}, Hdf5Type::float32});
  trace.add_series({"/signals/huge", "1", "d", {512, 512}});
  trace.start();
  const TraceReader reader(scratch.path("t.h5"));
  CHECK(reader.find("/signals/narrow").chunk_rows == 1024);
  CHECK(reader.find("/signals/wide").chunk_rows == 64);
  CHECK(reader.find("/signals/huge").chunk_rows == 1);
}

TEST_CASE("a writer that goes out of scope keeps its rows, and one without rows leaves nothing") {
  const ScratchDirectory scratch;
  {
    TraceWriter trace(scratch.path("t.h5"), header);
    append_rows(trace, trace.add_series({"/signals/x", "1", "values", {2}}), 0, 3);
  }
  CHECK(TraceReader(scratch.path("t.h5")).find("/signals/x").rows == 3);
  { TraceWriter declared_only(scratch.path("u.h5"), header); }
  CHECK_FALSE(std::filesystem::exists(scratch.path("u.h5")));
  CHECK_FALSE(std::filesystem::exists(scratch.path("u.h5.partial")));
}

TEST_CASE("what a trace cannot hold is refused where it is declared") {
  const ScratchDirectory scratch;
  TraceWriter trace(scratch.path("t.h5"), header);
  const auto series = trace.add_series({"/signals/x", "1", "values", {2}});
  CHECK_THROWS_WITH(trace.add_series({"/signals/x", "1", "again", {}}), Contains("/signals/x is declared twice"));
  CHECK_THROWS_WITH(trace.add_series({"x", "1", "d", {}}), Contains("'x' names no data set"));
  CHECK_THROWS_WITH(trace.add_series({"/signals/", "1", "d", {}}), Contains("names no data set"));
  CHECK_THROWS_WITH(trace.add_series({"/signals/y", "1", "d", {0}}), Contains("row size of 0"));
  CHECK_THROWS_WITH(trace.add_series({"/signals/y", "1", "d", {1 << 20, 1 << 20}}), Contains("above 2 GiB"));
  CHECK_THROWS_WITH(trace.add_series({"/signals/y", "1", "d", {}, Hdf5Type::uint8, -1}), Contains("-1 rows"));
  const float wrong[] = {1, 2};
  CHECK_THROWS_WITH(trace.append(series, wrong, 1), Contains("/signals/x holds float64; got float32"));
  append_rows(trace, series, 0, 1);
  CHECK_THROWS_WITH(trace.add_series({"/signals/late", "1", "d", {}}), Contains("declared after the first row"));
  CHECK_THROWS_WITH(trace.set_attribute("/", "late", 1.0), Contains("declared after the first row"));
  trace.finish();
  CHECK_THROWS_WITH(append_rows(trace, series, 1, 1), Contains("is finished"));
}

TEST_CASE("a trace is not written over anything, nor where it cannot be") {
  const ScratchDirectory scratch;
  scratch.file("old.h5", "precious");
  CHECK_THROWS_WITH(TraceWriter(scratch.path("old.h5"), header), Contains("old.h5") && Contains("exists"));
  CHECK(file_text(scratch.path("old.h5")) == "precious");
  CHECK_THROWS_WITH(TraceWriter(scratch.path(), header), Contains("is a directory"));
  CHECK_THROWS_WITH(TraceWriter(scratch.path("none/t.h5"), header), Contains("none/t.h5") && Contains("No such file"));
}

TEST_CASE("a full disk is one data error, and the rows before it can be read") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("t.h5");
  // The limit on a file's size fails a write as a full disk does, without needing one.
  const int result = run_in_child([&] {
    TraceWriter trace(path, header);
    const auto series = trace.add_series({"/signals/x", "1", "values", {2}, Hdf5Type::float64, 64});
    trace.start();
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {1 << 19, 1 << 19};
    setrlimit(RLIMIT_FSIZE, &limit);
    try {
      for (int row = 0; row < 10000000; row += 64) append_rows(trace, series, row, 64);
    } catch (const zbphw::Error& error) {
      const std::string text = error.what();
      const bool named = text.find("t.h5") != std::string::npos && text.find("File too large") != std::string::npos;
      try {
        append_rows(trace, series, 0, 1);
      } catch (const zbphw::Error& second) {
        const bool told = std::string(second.what()).find("after a failed write") != std::string::npos;
        return named && told && error.kind() == zbphw::ErrorKind::data ? 0 : 1;
      }
    }
    return 2;
  });
  CHECK(result == 0);
  const TraceReader trace(path);
  CHECK(trace.find("/signals/x").rows > 1000);
  CHECK(rows_are_right(trace, "/signals/x"));
}

// A write that is not made is a kill before it: so this is a kill at every moment at which it can make a difference.
TEST_CASE("the file is a whole trace after every single write to it") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("t.h5");
  std::int64_t flushed_rows = 0;
  int writes = 0;
  int failures = 0;
  const zbphw::LiveWriteObserver look = [&] {
    ++writes;
    try {
      const TraceReader trace(path);
      if (trace.find("/signals/x").rows < flushed_rows || !rows_are_right(trace, "/signals/x")) ++failures;
    } catch (const zbphw::Error& error) {
      UNSCOPED_INFO("after write " << writes << ": " << error.what());
      ++failures;
    }
  };
  TraceWriter trace(path, header, &look);
  const auto series = trace.add_series({"/signals/x", "1", "values", {2}, Hdf5Type::float64, 2});
  trace.add_series({"/queries/other", "1", "never written", {}});
  int row = 0;
  for (int i = 0; i < 300; ++i) {
    const int count = 1 + i % 3;
    append_rows(trace, series, row, count);
    row += count;
    if (i % 7 == 0) trace.flush();
    flushed_rows = i % 7 == 0 ? row : row / 2 * 2;
  }
  trace.finish();
  CHECK(failures == 0);
  CHECK(writes > 300);
  CHECK(TraceReader(path).find("/signals/x").rows == 600);
}
