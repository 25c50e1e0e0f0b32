// The directory of one run: created, resumed or refused, so that nothing on disk is lost or mixed up.
#pragma once

#include <memory>
#include <string>

#include "base/json.hpp"

namespace zbphw {

// While the object lives, the directory is locked: a second process that opens it is refused. The lock ends with the
// process, however that ends, and leaves no file.
class RunDirectory {
 public:
  // Opens `path` for a run with the effective configuration `config`, which goes to config.json.
  // - Nothing there, or an empty directory: a new run.
  // - A run whose config.json equals `config` (numbers by value, keys in any order): resumed.
  // - `force`: what is there is renamed to "<path>.old-<N>", first free N, and a new run starts. Nothing is deleted.
  // Throws a data Error, and leaves what was there as it was: another configuration (the first key that differs is
  // named), a directory that is no run, a file, one that cannot be created or written, one in use.
  RunDirectory(const std::string& path, const Json& config, bool force);
  ~RunDirectory();

  const std::string& path() const { return path_; }
  std::string file(const std::string& name) const;  // the path of a file in it

  bool resumed() const { return resumed_; }
  // Where --force has moved the earlier run, or "".
  const std::string& moved_to() const { return moved_to_; }

 private:
  class Lock;

  void move_aside();
  void start(const Json& config);
  void resume(const Json& config);

  std::string path_;
  std::unique_ptr<Lock> lock_;
  bool resumed_ = false;
  std::string moved_to_;
};

// Whether a zbphw process works in this directory now. Throws a data Error when the directory cannot be opened.
bool run_in_progress(const std::string& path);

// Where two configurations differ first, and how: "model.width: 128 there, 64 now". "" when they are equal.
std::string first_difference(const Json& there, const Json& now);

}  // namespace zbphw
