#include "training/run_log.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <utility>

#include "base/atomic_file.hpp"
#include "base/error.hpp"

namespace zbphw {
namespace {

Error system_error(const std::string& path, const char* action) {
  return data_error(path, std::string(action) + ": " + std::strerror(errno));
}

}  // namespace

RunLog::RunLog(std::string path) : path_(std::move(path)), file_(std::fopen(path_.c_str(), "ab")) {
  if (file_ == nullptr) throw system_error(path_, "cannot be opened");
}

RunLog::~RunLog() { std::fclose(file_); }

void RunLog::write(const std::string& event, const RunPosition& position, const Json& fields) {
  Json line = {{"event", event}, {"step", position.step}, {"tokens", position.tokens}, {"time_s", position.time_s}};
  line.update(fields);
  const std::string text = line.dump() + "\n";
  // Flushed at once: a reader that follows the file sees whole lines, and Ctrl-C loses none.
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fflush(file_) != 0) {
    throw system_error(path_, "cannot be written");
  }
}

void RunLog::sync() {
  if (fsync(fileno(file_)) != 0 && errno != EINVAL) throw system_error(path_, "cannot be made durable");
}

bool truncate_log(const std::string& path, std::int64_t step) {
  std::ifstream in(path, std::ios::binary);
  std::string kept, line;
  bool has_header = false;
  for (std::int64_t number = 1; std::getline(in, line); ++number) {
    if (in.eof()) break;  // no line end: a kill cut it off
    const Json json = Json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("event") || !json.contains("step") || !json["step"].is_number_integer()) {
      throw data_error(path + ":" + std::to_string(number), "is not a line of a training log");
    }
    if (json["step"].get<std::int64_t>() > step) break;
    has_header = has_header || json["event"] == "header";
    kept += line + "\n";
  }
  in.close();
  write_file_atomically(path, kept);
  return has_header;
}

}  // namespace zbphw
