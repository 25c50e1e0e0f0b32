#include "base/lookup3.hpp"

#include <catch2/catch.hpp>
#include <string>

// Values that lookup3.c (Bob Jenkins, 2006) states in its self-test, driver5().
TEST_CASE("lookup3 gives the published values") {
  const std::string text = "Four score and seven years ago";
  CHECK(zbphw::lookup3(reinterpret_cast<const unsigned char*>(text.data()), text.size()) == 0x17770551);
  CHECK(zbphw::lookup3(nullptr, 0) == 0xdeadbeef);
}
