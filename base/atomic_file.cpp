#include "base/atomic_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/error.hpp"

namespace zbphw {

AtomicFile::AtomicFile(std::string path) : path_(std::move(path)), partial_path_(path_ + ".partial") {
  file_ = std::fopen(partial_path_.c_str(), "wb");
  if (file_ == nullptr) fail("cannot be created");
}

AtomicFile::~AtomicFile() {
  if (file_ == nullptr) return;
  std::fclose(file_);
  std::remove(partial_path_.c_str());
}

void AtomicFile::write(std::string_view bytes) {
  if (bytes.empty()) return;  // an empty view may have no address, which fwrite must not be given
  if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) fail("cannot be written");
}

void AtomicFile::commit() {
  if (std::fflush(file_) != 0) fail("cannot be written");
  // A pipe or a device has nothing to sync and says EINVAL; a disk that fails says something else.
  if (fsync(fileno(file_)) != 0 && errno != EINVAL) fail("cannot be made durable");
  std::FILE* closing = std::exchange(file_, nullptr);
  if (std::fclose(closing) != 0) {
    const int reason = errno;
    std::remove(partial_path_.c_str());
    errno = reason;
    fail("cannot be closed");
  }
  if (std::rename(partial_path_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    std::remove(partial_path_.c_str());
    errno = reason;
    fail("cannot be renamed into place");
  }
  const std::filesystem::path parent = std::filesystem::path(path_).parent_path();
  sync_directory(parent.empty() ? "." : parent.string());
}

void AtomicFile::fail(const char* action) {
  throw data_error(path_, std::string(action) + ": " + std::strerror(errno));
}

void write_file_atomically(const std::string& path, std::string_view bytes) {
  AtomicFile file(path);
  file.write(bytes);
  file.commit();
}

void sync_directory(const std::string& directory) {
  const int descriptor = open(directory.c_str(), O_RDONLY | O_DIRECTORY);
  if (descriptor < 0) throw data_error(directory, std::string("cannot be opened: ") + std::strerror(errno));
  const bool failed = fsync(descriptor) != 0 && errno != EINVAL;
  const int reason = errno;
  close(descriptor);
  if (failed) throw data_error(directory, std::string("cannot be made durable: ") + std::strerror(reason));
}

}  // namespace zbphw
