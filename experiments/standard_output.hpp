// Standard output with the promise that --json makes: one object, nothing else, and no silent loss.
#pragma once

#include <string_view>

namespace zbphw {

class StandardOutput {
 public:
  // `only_results`: from here on, whatever a library prints to standard output goes to standard error; only write()
  // reaches the real one.
  explicit StandardOutput(bool only_results);
  ~StandardOutput();
  StandardOutput(const StandardOutput&) = delete;
  StandardOutput& operator=(const StandardOutput&) = delete;

  // Writes all of `text`. Throws a data Error when it cannot (a full disk, a closed descriptor).
  void write(std::string_view text);

 private:
  int descriptor_;
  bool redirected_;
};

}  // namespace zbphw
