// log.jsonl: one JSON object a line, the first of them the header, each with event, step, tokens and time_s.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

#include "base/json.hpp"

namespace zbphw {

// Where a run stands: what every line of the log begins with.
struct RunPosition {
  std::int64_t step = 0;    // updates done
  std::int64_t tokens = 0;  // tokens that were trained on
  double time_s = 0;        // seconds of training, over all its starts
};

// Appends lines. Every member throws a data Error that names the file (a full disk, no permission).
class RunLog {
 public:
  explicit RunLog(std::string path);
  ~RunLog();
  RunLog(const RunLog&) = delete;
  RunLog& operator=(const RunLog&) = delete;

  // `event`: header, train, validation, checkpoint, guard, skip, audit, done. `fields` follow the position.
  void write(const std::string& event, const RunPosition& position, const Json& fields);

  // Makes all lines so far durable.
  void sync();

 private:
  std::string path_;
  std::FILE* file_;
};

// Cuts a log back to the lines of at most `step` updates, so that a resumed run continues it; a last line that a kill
// left unfinished goes too. Returns whether a header is (still) there. Throws a data Error when another line is not a
// log line. A missing file is an empty log.
bool truncate_log(const std::string& path, std::int64_t step);

}  // namespace zbphw
