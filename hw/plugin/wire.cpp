#include "hw/plugin/wire.hpp"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace zbphw {
namespace {

// A longer header is something else: a script that prints to its standard output, most likely.
constexpr std::uint32_t longest_header = 1U << 24;

using Cause = WireFailure::Cause;

void wait_for(int socket, short events, const Deadline& deadline) {
  pollfd entry{socket, events, 0};
  while (true) {
    const int ready = poll(&entry, 1, deadline.left_ms());
    if (ready > 0) return;  // also at the other end's death: the transfer that follows says so
    if (ready == 0) throw WireFailure(Cause::timeout, "timeout");
    if (errno != EINTR) throw WireFailure(Cause::closed, std::strerror(errno));
  }
}

bool may_try_again(int error) { return error == EINTR || error == EAGAIN || error == EWOULDBLOCK; }

// Bytes as a person can read them.
std::string shown(const std::string& bytes) {
  std::string text = bytes.substr(0, 40);
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c < ' ' || c > '~'; }, '.');
  return "\"" + text + "\"";
}

}  // namespace

Deadline::Deadline(double seconds) : never_(std::isinf(seconds)) {
  if (never_) return;
  end_ = std::chrono::steady_clock::now() +
         std::chrono::duration_cast<std::chrono::steady_clock::duration>(std::chrono::duration<double>(seconds));
}

int Deadline::left_ms() const {
  if (never_) return -1;
  const double left_s = std::chrono::duration<double>(end_ - std::chrono::steady_clock::now()).count();
  return static_cast<int>(std::ceil(std::clamp(left_s, 0.0, 1e6) * 1000));
}

void send_bytes(int socket, const void* data, std::size_t size, const Deadline& deadline) {
  const char* next = static_cast<const char*>(data);
  while (size > 0) {
    wait_for(socket, POLLOUT, deadline);
    const ssize_t sent = send(socket, next, size, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0) {
      if (may_try_again(errno)) continue;
      throw WireFailure(Cause::closed, std::strerror(errno));
    }
    next += sent;
    size -= static_cast<std::size_t>(sent);
  }
}

void receive_bytes(int socket, void* data, std::size_t size, const Deadline& deadline) {
  char* next = static_cast<char*>(data);
  while (size > 0) {
    wait_for(socket, POLLIN, deadline);
    const ssize_t got = recv(socket, next, size, MSG_DONTWAIT);
    if (got < 0 && may_try_again(errno)) continue;
    if (got <= 0) throw WireFailure(Cause::closed, got == 0 ? "end of file" : std::strerror(errno));
    next += got;
    size -= static_cast<std::size_t>(got);
  }
}

void send_header(int socket, const Json& header, const Deadline& deadline) {
  const std::string text = header.dump(-1, ' ', false, Json::error_handler_t::replace);
  const auto length = static_cast<std::uint32_t>(text.size());
  std::string message(4, '\0');
  for (int k = 0; k < 4; ++k) message[k] = static_cast<char>(length >> (8 * k) & 0xFFU);
  message += text;
  send_bytes(socket, message.data(), message.size(), deadline);
}

Json receive_header(int socket, const Deadline& deadline) {
  std::array<unsigned char, 4> bytes{};
  receive_bytes(socket, bytes.data(), bytes.size(), deadline);
  const std::uint32_t length =
      bytes[0] | bytes[1] << 8U | bytes[2] << 16U | static_cast<std::uint32_t>(bytes[3]) << 24U;
  if (length > longest_header) {
    throw WireFailure(Cause::not_a_message, "it begins with " + shown({bytes.begin(), bytes.end()}) +
                                                ": is something written to standard output?");
  }
  std::string text(length, '\0');
  receive_bytes(socket, text.data(), length, deadline);
  Json header = Json::parse(text, nullptr, false);
  if (!header.is_object()) throw WireFailure(Cause::not_a_message, "its header is " + shown(text) + ", no JSON object");
  return header;
}

}  // namespace zbphw
