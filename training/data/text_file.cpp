#include "training/data/text_file.hpp"

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <vector>

#include "base/error.hpp"

namespace zbphw {
namespace {

struct CloseGzip {
  void operator()(gzFile_s* file) const { gzclose(file); }
};

std::string gzip_reason(gzFile_s* file) {
  int code = Z_OK;
  const char* text = gzerror(file, &code);
  return code == Z_ERRNO ? std::strerror(errno) : text;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  if (std::filesystem::is_directory(path))
    throw data_error(path, "is a directory; allowed: a text file or a .gz of one");
  // gzopen reads a file without the gzip magic as it is.
  const std::unique_ptr<gzFile_s, CloseGzip> file(gzopen(path.c_str(), "rb"));
  if (file == nullptr) throw data_error(path, std::string("cannot be opened: ") + std::strerror(errno));
  std::string text;
  std::vector<char> chunk(1 << 18);
  while (true) {
    const int count = gzread(file.get(), chunk.data(), static_cast<unsigned>(chunk.size()));
    if (count < 0) throw data_error(path, "cannot be read: " + gzip_reason(file.get()));
    if (count == 0) break;
    text.append(chunk.data(), static_cast<std::size_t>(count));
  }
  int code = Z_OK;
  gzerror(file.get(), &code);  // a stream that ends early is reported here, not by gzread
  if (code == Z_BUF_ERROR) throw data_error(path, "ends in the middle of its gzip stream");
  if (text.empty()) throw data_error(path, "is empty");
  return text;
}

}  // namespace zbphw
