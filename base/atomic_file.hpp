// Files that are either whole or not there: write beside, fsync, rename.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

namespace zbphw {

// A file under construction. Its bytes go to "<path>.partial"; commit() makes them durable and gives the file its name.
// Without commit() (an exception, a return) the destructor removes the partial file and an old `path` is untouched.
// All members throw a data Error that names the file and the system's reason (a full disk, no permission).
class AtomicFile {
 public:
  explicit AtomicFile(std::string path);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::string_view bytes);
  void commit();

 private:
  [[noreturn]] void fail(const char* action);

  std::string path_;
  std::string partial_path_;
  std::FILE* file_ = nullptr;
};

// The whole of `bytes` as the file `path`.
void write_file_atomically(const std::string& path, std::string_view bytes);

// Makes a directory's entries (a rename, a removal) durable. Throws a data Error.
void sync_directory(const std::string& directory);

}  // namespace zbphw
