// Messages over a socket: a length (4 bytes, little-endian), a JSON header of that length, then the arrays that the
// header announces as raw 32-bit floats, little-endian. docs/hardware_in_the_loop.md is the description for others.
//
// Nothing here blocks beyond its deadline, and a write to a socket whose other end is gone is an error, not a signal.
#pragma once

#include <chrono>
#include <cstddef>
#include <stdexcept>
#include <string>

#include "base/json.hpp"

namespace zbphw {

class Deadline {
 public:
  // Infinity: never.
  explicit Deadline(double seconds);
  // For poll(): milliseconds left, rounded up; 0 when it is over; -1 for never.
  int left_ms() const;

 private:
  bool never_;
  std::chrono::steady_clock::time_point end_;
};

// Why a message did not come or go.
class WireFailure : public std::runtime_error {
 public:
  enum class Cause { timeout, closed, not_a_message };
  WireFailure(Cause cause, const std::string& message) : std::runtime_error(message), cause_(cause) {}
  Cause cause() const { return cause_; }

 private:
  Cause cause_;
};

// Whole buffers or a WireFailure.
void send_bytes(int socket, const void* data, std::size_t size, const Deadline& deadline);
void receive_bytes(int socket, void* data, std::size_t size, const Deadline& deadline);

void send_header(int socket, const Json& header, const Deadline& deadline);
// An object; anything else is a WireFailure that shows how it begins.
Json receive_header(int socket, const Deadline& deadline);

}  // namespace zbphw
