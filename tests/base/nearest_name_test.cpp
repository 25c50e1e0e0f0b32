#include "base/nearest_name.hpp"

#include <catch2/catch.hpp>

using zbphw::did_you_mean;
using zbphw::edit_distance;

TEST_CASE("edit distance counts insertions, deletions, replacements and swaps") {
  CHECK(edit_distance("bits", "bits") == 0);
  CHECK(edit_distance("bit", "bits") == 1);
  CHECK(edit_distance("bist", "bits") == 1);
  CHECK(edit_distance("kitten", "sitting") == 3);
  CHECK(edit_distance("", "abc") == 3);
}

TEST_CASE("a near name is suggested and a far one is not") {
  CHECK(did_you_mean("simulat", {"train", "simulate"}) == "; did you mean 'simulate'?");
  CHECK(did_you_mean("zzz", {"train", "simulate"}).empty());
  CHECK(did_you_mean("pcm_joshi", {"sonos", "pcm_joshi_2020_long"}) == "; did you mean 'pcm_joshi_2020_long'?");
  CHECK(did_you_mean("pcm", {"sonos", "pcm_joshi_2020_long"}).empty());
}

TEST_CASE("choices read as a sentence") {
  CHECK(zbphw::join_choices({"a"}) == "a");
  CHECK(zbphw::join_choices({"a", "b", "c"}) == "a, b or c");
}
