#include "experiments/run_directory.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <vector>

#include "base/atomic_file.hpp"
#include "base/config_file.hpp"
#include "base/error.hpp"

namespace zbphw {
namespace {

namespace fs = std::filesystem;

constexpr const char* config_name = "config.json";

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 37) + "...";
  return text;
}

std::string joined(const std::string& path, const std::string& key) { return path.empty() ? key : path + "." + key; }

std::string difference(const std::string& path, const Json& there, const Json& now) {
  if (there.is_object() && now.is_object()) {
    for (const auto& [key, value] : now.items()) {
      if (!there.contains(key)) return joined(path, key) + ": missing there, " + shown(value) + " now";
      const std::string inside = difference(joined(path, key), there.at(key), value);
      if (!inside.empty()) return inside;
    }
    for (const auto& [key, value] : there.items()) {
      if (!now.contains(key)) return joined(path, key) + ": " + shown(value) + " there, missing now";
    }
    return "";
  }
  if (there.is_array() && now.is_array() && there.size() == now.size()) {
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::string inside = difference(path + "[" + std::to_string(i) + "]", there[i], now[i]);
      if (!inside.empty()) return inside;
    }
    return "";
  }
  return there == now ? "" : path + ": " + shown(there) + " there, " + shown(now) + " now";
}

// The first "<path>.old-<N>" that is free.
std::string aside_name(const std::string& path) {
  for (int n = 1;; ++n) {
    const std::string name = path + ".old-" + std::to_string(n);
    if (!fs::exists(fs::symlink_status(name))) return name;
  }
}

// "runs/train/a/" and "runs/train/a" are one directory, and "a/.old-1" would lie inside it.
std::string without_trailing_slashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Creates `path` and its parents, and notes those that it made, the outermost first.
void create_directories(const std::string& path, std::vector<fs::path>& made) {
  fs::path so_far;
  for (const fs::path& part : fs::path(path)) {
    so_far /= part;
    if (fs::create_directory(so_far)) made.push_back(so_far);
  }
}

}  // namespace

std::string first_difference(const Json& there, const Json& now) { return difference("", there, now); }

class RunDirectory::Lock {
 public:
  explicit Lock(const std::string& directory) : descriptor_(open(directory.c_str(), O_RDONLY | O_CLOEXEC)) {
    if (descriptor_ < 0) throw data_error(directory, std::string("cannot be opened: ") + std::strerror(errno));
    if (flock(descriptor_, LOCK_EX | LOCK_NB) == 0) return;
    const int reason = errno;
    close(descriptor_);
    throw data_error(directory, reason == EWOULDBLOCK ? "is in use by another zbphw process"
                                                      : std::string("cannot be locked: ") + std::strerror(reason));
  }
  ~Lock() { close(descriptor_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int descriptor_;
};

bool run_in_progress(const std::string& path) {
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) throw data_error(path, std::string("cannot be opened: ") + std::strerror(errno));
  // A shared lock, so that two processes that only look never see each other.
  const bool taken = flock(descriptor, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(descriptor);
  return taken;
}

RunDirectory::RunDirectory(const std::string& path, const Json& config, bool force)
    : path_(without_trailing_slashes(path)) {
  if (force && fs::exists(path_)) move_aside();
  if (!fs::exists(path_) || (fs::is_directory(path_) && fs::is_empty(path_))) {
    start(config);
  } else {
    resume(config);
  }
}

RunDirectory::~RunDirectory() = default;

std::string RunDirectory::file(const std::string& name) const { return (fs::path(path_) / name).string(); }

void RunDirectory::move_aside() {
  const Lock not_in_use(path_);  // a run that is being written is not moved from under its writer
  moved_to_ = aside_name(path_);
  fs::rename(path_, moved_to_);
}

void RunDirectory::resume(const Json& config) {
  if (!fs::is_directory(path_)) throw data_error(path_, "is a file; --out needs a directory");
  if (!fs::exists(file(config_name))) {
    throw data_error(path_, "is not empty and holds no run; choose another --out, or move it aside with --force");
  }
  lock_ = std::make_unique<Lock>(path_);
  const std::string changed = first_difference(load_json_file(file(config_name)), config);
  if (!changed.empty()) {
    throw data_error(path_, "holds a run with another configuration (" + changed +
                                "); choose another --out, or move it aside with --force");
  }
  if (access(path_.c_str(), W_OK) != 0) {
    throw data_error(path_, std::string("cannot be written: ") + std::strerror(errno));
  }
  resumed_ = true;
}

// Half a start is none: directories that were made for a run that cannot be written are removed again.
void RunDirectory::start(const Json& config) {
  std::vector<fs::path> made;
  try {
    create_directories(path_, made);
    lock_ = std::make_unique<Lock>(path_);
    write_file_atomically(file(config_name), config.dump(2) + "\n");
  } catch (...) {
    std::error_code ignored;
    for (auto last = made.rbegin(); last != made.rend(); ++last) fs::remove(*last, ignored);
    throw;
  }
}

}  // namespace zbphw
