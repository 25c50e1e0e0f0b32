// Messages over a socket, and arrays in shared memory.
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "hw/plugin/shared_arrays.hpp"
#include "hw/plugin/wire.hpp"

using namespace zbphw;

namespace {

class SocketPair {
 public:
  SocketPair() { REQUIRE(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends_.data()) == 0); }
  ~SocketPair() {
    close_end(0);
    close_end(1);
  }
  SocketPair(const SocketPair&) = delete;
  SocketPair& operator=(const SocketPair&) = delete;
  int operator[](std::size_t end) const { return ends_[end]; }
  void close_end(std::size_t end) {
    if (ends_[end] >= 0) close(ends_[end]);
    ends_[end] = -1;
  }

 private:
  std::array<int, 2> ends_{};
};

WireFailure::Cause cause_of_receive(int socket, double timeout_s) {
  try {
    receive_header(socket, Deadline(timeout_s));
  } catch (const WireFailure& failure) {
    return failure.cause();
  }
  FAIL("a message came");
  return {};
}

}  // namespace

TEST_CASE("a header arrives as it was sent, behind its length") {
  const SocketPair pair;
  const Json header = {{"op", "query"}, {"start_s", 0.1}, {"seed", 18446744073709551615U}, {"text", "µ"}};
  send_header(pair[0], header, Deadline(10));
  send_header(pair[0], Json::object(), Deadline(10));
  CHECK(receive_header(pair[1], Deadline(10)) == header);
  std::array<unsigned char, 6> bytes{};
  receive_bytes(pair[1], bytes.data(), bytes.size(), Deadline(10));
  CHECK(bytes == std::array<unsigned char, 6>{2, 0, 0, 0, '{', '}'});
}

TEST_CASE("more than a socket holds goes through when the other end reads") {
  const SocketPair pair;
  const std::vector<float> sent(3000000, 1.5F);
  std::vector<float> got(sent.size());
  std::thread reader([&] { receive_bytes(pair[1], got.data(), got.size() * sizeof(float), Deadline(60)); });
  send_bytes(pair[0], sent.data(), sent.size() * sizeof(float), Deadline(60));
  reader.join();
  CHECK(got == sent);
}

TEST_CASE("nothing waits beyond its deadline") {
  const SocketPair pair;
  CHECK(cause_of_receive(pair[1], 0.02) == WireFailure::Cause::timeout);
  send_bytes(pair[0], "\x05\0\0\0{", 5, Deadline(10));  // half a message
  CHECK(cause_of_receive(pair[1], 0.02) == WireFailure::Cause::timeout);
  const std::vector<char> much(1 << 24);
  try {
    send_bytes(pair[0], much.data(), much.size(), Deadline(0.02));
    FAIL("nobody reads");
  } catch (const WireFailure& failure) {
    CHECK(failure.cause() == WireFailure::Cause::timeout);
  }
}

TEST_CASE("an end that is gone is told, to the reader and to the writer") {
  SocketPair pair;
  pair.close_end(0);
  CHECK(cause_of_receive(pair[1], 10) == WireFailure::Cause::closed);
  CHECK_THROWS_AS(send_header(pair[1], Json::object(), Deadline(10)), WireFailure);  // and no SIGPIPE
}

TEST_CASE("what is no message is refused") {
  for (const std::string& text :
       {std::string("Hello, world"), std::string("\x02\0\0\0[]", 6), std::string("\x03\0\0\0{,}", 7),
        std::string("\x01\0\0\0"
                    "7",
                    5)}) {
    const SocketPair pair;
    send_bytes(pair[0], text.data(), text.size(), Deadline(10));
    CHECK(cause_of_receive(pair[1], 10) == WireFailure::Cause::not_a_message);
  }
}

TEST_CASE("shared arrays lie apart, each on a cache line, with a guard behind those that are written") {
  const ArrayLayout layout({3, 0, 17}, {16, 1});
  CHECK(layout.sent == std::vector<std::size_t>{0, 64, 64});
  CHECK(layout.wanted == std::vector<std::size_t>{192, 320});
  CHECK(layout.bytes == 448);
  SharedArrays ours;
  ours.grow(layout.bytes);
  ours.set_guard(layout.wanted[0], 16);
  ours.at(layout.wanted[0])[15] = 1;
  CHECK(ours.guard_is_whole(layout.wanted[0], 16));
  ours.at(layout.wanted[0])[16] = 1;
  CHECK_FALSE(ours.guard_is_whole(layout.wanted[0], 16));

  SharedArrays theirs(dup(ours.file()));
  theirs.map(layout.bytes);
  CHECK(theirs.at(layout.wanted[0])[15] == 1);
  ours.grow(1 << 20);
  theirs.map(1 << 20);
  ours.at((1 << 20) - 4)[0] = 7;
  CHECK(theirs.at((1 << 20) - 4)[0] == 7);
  CHECK(theirs.at(layout.wanted[0])[15] == 1);
}
