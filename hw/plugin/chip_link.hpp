// What zbphw says to an attached chip, whichever way it is attached: a library in this process (plugin_library.hpp),
// one in a child process, or a script on the other end of a socket (process_link.hpp).
//
// A call is a small JSON header and arrays of floats; docs/hardware_in_the_loop.md describes every operation. A library
// gets the same calls as functions of zbphw_plugin.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json.hpp"

namespace zbphw {

struct SentFloats {
  const float* data = nullptr;
  std::int64_t count = 0;  // 0: left out
};

struct WantedFloats {
  float* data = nullptr;
  std::int64_t count = 0;
};

struct ChipCall {  // NOLINT(bugprone-exception-escape): of nlohmann's move, which is noexcept
  Json header;     // {"op": "query", "chip": 0, ...}
  std::vector<SentFloats> sent;
  std::vector<WantedFloats> wanted;  // room for the arrays of the answer
};

class ChipLink {
 public:
  virtual ~ChipLink() = default;

  // The answer's header: {"written": [floats in each wanted array], ...}, or {"error": "..."} when the chip says that
  // it failed. The wanted arrays are filled as far as "written" says, which is never beyond their room. Throws a device
  // Error when there is no answer in time, or none that can be understood; the link is of no use from then on.
  virtual Json call(const ChipCall& call, double timeout_s) = 0;
};

}  // namespace zbphw
