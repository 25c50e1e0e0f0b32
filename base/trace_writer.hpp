// Writes a trace: one HDF5 file of what a simulation or a training run saw, row by row (docs/trace_format.md).
//
//     TraceWriter trace(path, {"simulate", version, seed, device_json});
//     const auto energy = trace.add_series({"/queries/energy_pj", "pJ", "energy of the query"});
//     trace.append(energy, &energy_pj, 1);
//     trace.finish();
//
// All series are declared first; the first append (or start()) gives the file its name. From then on the file can be
// read by any HDF5 tool at any moment, also after a SIGKILL. Rows wait in memory until a chunk is full; a kill loses
// what waits, at most one chunk of each series.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/hdf5_file.hpp"

namespace zbphw {

// The version of the layout that this code writes and reads.
constexpr std::uint64_t trace_format_version = 1;
constexpr const char* trace_format_name = "zbphw-trace";
// The root attribute with the checksums of all texts (base/hdf5_text_heap.hpp).
constexpr const char* trace_text_checksums = "text_checksums";

struct TraceHeader {
  std::string command;  // "simulate"
  std::string version;  // of the program, with its commit
  std::uint64_t seed = 0;
  std::string device_json;  // the effective device, "{}" for none
  std::string created_utc;  // "2026-05-01T12:00:00Z"; empty: now
};

struct SeriesSpec {
  std::string path;                     // "/queries/energy_pj": group and name, absolute
  std::string units;                    // "pJ"; "1" for a pure number
  std::string description;              // one line
  std::vector<std::int64_t> row_shape;  // of one row; empty for one number a row
  Hdf5Type type = Hdf5Type::float64;
  std::int64_t chunk_rows = 0;  // 0: as many rows as fit in 64 KiB, at most 1024
};

// Not thread-safe (base/hdf5_file.hpp). Everything throws a data Error that names the file and the series; after one
// from append(), flush() or finish() the file keeps what was flushed before, and the writer accepts nothing more.
class TraceWriter {
 public:
  using Series = std::size_t;

  // Refuses a path that exists: a trace is never overwritten. Until start() the file is "<path>.partial".
  TraceWriter(std::string path, const TraceHeader& header, const LiveWriteObserver* observer = nullptr);
  // Keeps what was appended as far as the disk allows; a failure is told by finish() only.
  ~TraceWriter();
  TraceWriter(const TraceWriter&) = delete;
  TraceWriter& operator=(const TraceWriter&) = delete;

  Series add_series(const SeriesSpec& spec);
  // Extra attributes of a series, or of "/" or a group: "t_s" of /tiles/0/at_3_us, the block names of /queries/block.
  void set_attribute(const std::string& object, const std::string& name, double value);
  void set_attribute(const std::string& object, const std::string& name, const std::string& value);

  // Ends the declarations: the file appears under its name, with no rows yet.
  void start();
  // `data` holds rows x row_shape values, C order. Throws when T is not the type of the series.
  template <class T>
  void append(Series series, const T* data, std::int64_t rows) {
    append_bytes(series, hdf5_type_of<T>(), data, rows);
  }
  // A flush point: brings the waiting rows of all series into the file. A chunk that is flushed before it is full is
  // written anew later, and its old place in the file stays unused: flush at checkpoints, not after every row.
  void flush();
  // flush(), and the file is closed and durable. Nothing can be appended after it.
  void finish();

  const std::string& path() const { return path_; }
  // Rows appended so far, waiting ones included.
  std::int64_t rows(Series series) const;

 private:
  struct Buffer {
    SeriesSpec spec;
    Hdf5DataSet data_set;
    std::size_t row_bytes = 0;
    std::int64_t written_rows = 0;
    std::int64_t waiting_rows = 0;
    std::vector<char> waiting;  // whole rows
  };
  enum class State { declaring, writing, finished, failed };

  void append_bytes(Series series, Hdf5Type type, const void* data, std::int64_t rows);
  void write_waiting(Buffer& buffer);
  void add_text_checksums();
  void close_data_sets();
  void require_declaring(const std::string& object) const;
  // Runs an action that writes; its failure is final.
  template <class Action>
  void guarded(const Action& action);
  std::string partial_path() const { return path_ + ".partial"; }

  std::string path_;
  const LiveWriteObserver* observer_;
  State state_ = State::declaring;
  std::optional<Hdf5File> file_;
  std::vector<Buffer> series_;
};

// The time now, as in TraceHeader::created_utc.
std::string utc_now();

}  // namespace zbphw
