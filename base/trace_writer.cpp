#include "base/trace_writer.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <limits>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/hdf5_text_heap.hpp"

namespace zbphw {
namespace {

constexpr std::int64_t chunk_bytes = std::int64_t{64} * 1024;
constexpr std::int64_t most_chunk_rows = 1024;
// HDF5 counts the bytes of a chunk in 32 bits.
constexpr std::int64_t most_chunk_bytes = std::numeric_limits<std::int32_t>::max();

bool well_formed(const std::string& path) {
  return path.size() > 1 && path.front() == '/' && path.back() != '/' && path.find("//") == std::string::npos;
}

std::size_t row_bytes_of(const std::string& file, const SeriesSpec& spec) {
  std::int64_t bytes = static_cast<std::int64_t>(bytes_of(spec.type));
  for (const std::int64_t size : spec.row_shape) {
    if (size < 1)
      throw data_error(file, spec.path + " has a row size of " + std::to_string(size) + "; allowed: at least 1");
    if (size > most_chunk_bytes / bytes) throw data_error(file, spec.path + " has rows above 2 GiB");
    bytes *= size;
  }
  return static_cast<std::size_t>(bytes);
}

std::int64_t default_chunk_rows(std::size_t row_bytes) {
  return std::clamp<std::int64_t>(chunk_bytes / static_cast<std::int64_t>(row_bytes), 1, most_chunk_rows);
}

void make_durable(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  const bool synced = descriptor >= 0 && fsync(descriptor) == 0;
  const int reason = errno;
  if (descriptor >= 0) close(descriptor);
  if (!synced) throw data_error(path, std::string("cannot be made durable: ") + std::strerror(reason));
}

std::string directory_of(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts = {};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

TraceWriter::TraceWriter(std::string path, const TraceHeader& header, const LiveWriteObserver* observer)
    : path_(std::move(path)), observer_(observer) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path_, ignored)) {
    throw data_error(path_, "is a directory; allowed: the name of a new HDF5 file");
  }
  if (std::filesystem::exists(std::filesystem::symlink_status(path_, ignored))) {
    throw data_error(path_, "exists; a trace is never overwritten: choose another name or move the file away");
  }
  // What a killed writer left before it had any rows.
  std::filesystem::remove(partial_path(), ignored);
  file_ = Hdf5File::create(partial_path());
  file_->set_text("/", "format", trace_format_name);
  file_->set_integer("/", "format_version", trace_format_version);
  file_->set_text("/", "command", header.command);
  file_->set_text("/", "version", header.version);
  file_->set_integer("/", "seed", header.seed);
  file_->set_text("/", "device_json", header.device_json);
  file_->set_text("/", "created_utc", header.created_utc.empty() ? utc_now() : header.created_utc);
  for (const char* group : {"/queries", "/signals", "/tiles", "/training", "/sweep"}) file_->create_group(group);
}

TraceWriter::~TraceWriter() {
  try {
    if (state_ == State::writing) finish();
  } catch (const Error&) {  // the file keeps its last flush point
  }
  if (state_ == State::declaring) {
    close_data_sets();
    file_.reset();
    std::error_code ignored;
    std::filesystem::remove(partial_path(), ignored);
  }
}

void TraceWriter::require_declaring(const std::string& object) const {
  if (state_ != State::declaring) {
    throw data_error(path_, object + " is declared after the first row; declare all series before");
  }
}

// HDF5 closes a file only when nothing in it is open.
void TraceWriter::close_data_sets() {
  for (Buffer& buffer : series_) buffer.data_set = {};
}

template <class Action>
void TraceWriter::guarded(const Action& action) {
  if (state_ == State::failed) throw data_error(path_, "takes no more rows after a failed write");
  if (state_ == State::finished) throw data_error(path_, "is finished and takes no more rows");
  try {
    action();
  } catch (const Error&) {
    state_ = State::failed;
    close_data_sets();
    file_.reset();
    throw;
  }
}

TraceWriter::Series TraceWriter::add_series(const SeriesSpec& spec) {
  require_declaring(spec.path);
  if (!well_formed(spec.path)) {
    throw data_error(path_,
                     "'" + spec.path + "' names no data set; allowed: an absolute path such as /queries/energy_pj");
  }
  if (file_->exists(spec.path)) throw data_error(path_, spec.path + " is declared twice");
  Buffer buffer;
  buffer.spec = spec;
  buffer.row_bytes = row_bytes_of(path_, spec);
  std::int64_t& chunk_rows = buffer.spec.chunk_rows;
  if (chunk_rows == 0) chunk_rows = default_chunk_rows(buffer.row_bytes);
  if (chunk_rows < 1 || chunk_rows > most_chunk_bytes / static_cast<std::int64_t>(buffer.row_bytes)) {
    throw data_error(path_, spec.path + " has chunks of " + std::to_string(chunk_rows) +
                                " rows; allowed: at least one row and at most 2 GiB");
  }
  buffer.data_set = file_->create_data_set(spec.path, {spec.type, spec.row_shape, chunk_rows});
  file_->set_text(spec.path, "units", spec.units);
  file_->set_text(spec.path, "description", spec.description);
  series_.push_back(std::move(buffer));
  return series_.size() - 1;
}

void TraceWriter::set_attribute(const std::string& object, const std::string& name, double value) {
  require_declaring(object + " attribute " + name);
  file_->set_number(object, name, value);
}

void TraceWriter::set_attribute(const std::string& object, const std::string& name, const std::string& value) {
  require_declaring(object + " attribute " + name);
  file_->set_text(object, name, value);
}

// The file is made beside and renamed, so that under its name there is never a file without its header.
void TraceWriter::start() {
  if (state_ == State::writing) return;
  guarded([this] {
    close_data_sets();
    file_->close();
    add_text_checksums();
    make_durable(partial_path());
    if (std::rename(partial_path().c_str(), path_.c_str()) != 0) {
      throw data_error(path_, std::string("cannot be renamed into place: ") + std::strerror(errno));
    }
    sync_directory(directory_of(path_));
    file_ = Hdf5File::open_live(path_, observer_);
    for (Buffer& buffer : series_) buffer.data_set = file_->data_set(buffer.spec.path);
  });
  state_ = State::writing;
}

// No attribute changes from here on, so the checksums of their texts hold for good.
void TraceWriter::add_text_checksums() {
  const std::vector<std::uint64_t> checksums = text_heap_checksums(partial_path());
  file_ = Hdf5File::open_to_add(partial_path());
  file_->set_integers("/", trace_text_checksums, checksums);
  file_->close();
}

void TraceWriter::append_bytes(Series series, Hdf5Type type, const void* data, std::int64_t rows) {
  Buffer& buffer = series_.at(series);
  if (type != buffer.spec.type) {
    throw data_error(path_, buffer.spec.path + " holds " + to_text(buffer.spec.type) + "; got " + to_text(type));
  }
  if (state_ == State::declaring) start();
  guarded([&] {
    const auto* bytes = static_cast<const char*>(data);
    while (rows > 0) {
      // Up to the end of the chunk, which a flush may have begun.
      const std::int64_t chunk_rows = buffer.spec.chunk_rows;
      const std::int64_t room = chunk_rows - buffer.written_rows % chunk_rows - buffer.waiting_rows;
      const std::int64_t taken = std::min(rows, room);
      const std::size_t size = static_cast<std::size_t>(taken) * buffer.row_bytes;
      buffer.waiting.insert(buffer.waiting.end(), bytes, bytes + size);
      buffer.waiting_rows += taken;
      bytes += size;
      rows -= taken;
      if (taken == room) write_waiting(buffer);
    }
  });
}

void TraceWriter::write_waiting(Buffer& buffer) {
  if (buffer.waiting_rows == 0) return;
  buffer.data_set.append(buffer.waiting.data(), buffer.waiting_rows);
  buffer.data_set.flush();
  buffer.written_rows += std::exchange(buffer.waiting_rows, 0);
  buffer.waiting.clear();
}

void TraceWriter::flush() {
  if (state_ == State::declaring) start();
  guarded([this] {
    for (Buffer& buffer : series_) write_waiting(buffer);
  });
}

void TraceWriter::finish() {
  flush();
  guarded([this] {
    close_data_sets();
    file_->close();
    file_.reset();
    make_durable(path_);
  });
  state_ = State::finished;
}

std::int64_t TraceWriter::rows(Series series) const {
  const Buffer& buffer = series_.at(series);
  return buffer.written_rows + buffer.waiting_rows;
}

}  // namespace zbphw
