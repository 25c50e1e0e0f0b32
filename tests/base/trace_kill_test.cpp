// A trace while its writer is at work, and after the writer was killed: any HDF5 reader opens it.
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/trace_reader.hpp"
#include "base/trace_writer.hpp"
#include "child_process.hpp"
#include "scratch_directory.hpp"

using zbphw::Hdf5Type;
using zbphw::TraceReader;
using zbphw::TraceWriter;

namespace {

constexpr int chunk_rows = 32;
constexpr int width = 4;
const std::string h5py = "/usr/bin/python3";

// A child that appends rows without end; `rows` counts those that append() has taken.
class EndlessWriter {
 public:
  explicit EndlessWriter(const std::string& path, std::chrono::microseconds pause = {}) {
    void* shared = mmap(nullptr, sizeof(Count), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    REQUIRE(shared != MAP_FAILED);
    rows_ = new (shared) Count(0);
    child_ = start_child([this, path, pause] {
      TraceWriter trace(path, {"simulate", "0.1.0", 1, "{}", ""});
      const auto series = trace.add_series({"/signals/x", "1", "values", {width}, Hdf5Type::float64, chunk_rows});
      for (std::int64_t row = 0;; ++row) {
        double values[width];
        for (int k = 0; k < width; ++k) values[k] = double(row) + k / double(width);
        trace.append(series, values, 1);
        rows_->store(row + 1);
        if (pause.count() > 0) std::this_thread::sleep_for(pause);
      }
      return 0;
    });
  }
  ~EndlessWriter() {
    kill();
    munmap(rows_, sizeof(Count));
  }

  void wait_for_rows(std::int64_t rows) const {
    while (rows_->load() < rows) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }

  void kill() {
    if (child_ <= 0) return;
    ::kill(child_, SIGKILL);
    wait_for_child(child_);
    child_ = -1;
  }

  std::int64_t rows() const { return rows_->load(); }

 private:
  using Count = std::atomic<std::int64_t>;
  Count* rows_ = nullptr;
  pid_t child_ = -1;
};

void check_rows(const TraceReader& trace) {
  const std::vector<double> values = trace.read_all<double>("/signals/x");
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < values.size(); ++i) wrong += values[i] != double(i) / width ? 1 : 0;
  CHECK(wrong == 0);
}

// Reads all rows with h5dump and with h5py, opened plainly.
void check_with_tools(const std::string& path, std::int64_t least_rows) {
  if (tool_works("h5dump --version")) {
    const ToolOutput dump = run_tool("h5dump -d /signals/x " + path);
    CHECK(dump.exit_code == 0);
    CHECK(dump.text.find("error") == std::string::npos);
    CHECK(dump.text.find("(0,0): 0, 0.25, 0.5, 0.75") != std::string::npos);
    const std::string last = "(" + std::to_string(least_rows - 1) + ",0): " + std::to_string(least_rows - 1) + ", ";
    CHECK(dump.text.find(last) != std::string::npos);
  } else {
    WARN("h5dump is not installed: not checked with it");
  }
  if (tool_works(h5py + " -c 'import h5py'")) {
    const ToolOutput read =
        run_tool(h5py + " -c 'import h5py, numpy, sys; f = h5py.File(sys.argv[1], \"r\"); x = f[\"signals/x\"][:]; " +
                 "assert f.attrs[\"format\"] == \"zbphw-trace\"; assert len(x) >= int(sys.argv[2]), len(x); " +
                 "assert (x.ravel() == numpy.arange(x.size) / 4).all()' " + path + " " + std::to_string(least_rows));
    CHECK(read.text.empty());
    CHECK(read.exit_code == 0);
  } else {
    WARN("h5py is not installed for /usr/bin/python3: not checked with it");
  }
}

}  // namespace

TEST_CASE("after SIGKILL at any moment a trace opens and lacks at most its last chunk") {
  const ScratchDirectory scratch;
  for (int round = 0; round < 25; ++round) {
    const std::string path = scratch.path("t" + std::to_string(round) + ".h5");
    EndlessWriter writer(path);
    writer.wait_for_rows(chunk_rows + 377 * round);
    writer.kill();
    const TraceReader trace(path);
    INFO("round " << round << ", killed at row " << writer.rows());
    // The child may have been killed between a chunk's arrival in the file and the count.
    CHECK(trace.find("/signals/x").rows > writer.rows() - chunk_rows);
    CHECK(trace.find("/signals/x").rows <= writer.rows() + chunk_rows);
    check_rows(trace);
    if (round == 24) check_with_tools(path, trace.find("/signals/x").rows);
  }
}

TEST_CASE("a trace is read by h5dump and h5py while it is written") {
  const ScratchDirectory scratch;
  const std::string path = scratch.path("t.h5");
  EndlessWriter writer(path, std::chrono::microseconds(20));
  writer.wait_for_rows(2 * chunk_rows);
  check_with_tools(path, chunk_rows);
  std::int64_t seen = 0;
  for (int i = 0; i < 50; ++i) {
    const TraceReader trace(path);
    CHECK(trace.find("/signals/x").rows >= seen);
    seen = trace.find("/signals/x").rows;
    check_rows(trace);
  }
}
