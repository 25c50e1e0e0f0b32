// Suggestions for names that nobody knows: "unknown key 'bitz'; did you mean 'bits'?"
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace zbphw {

// Number of single-character insertions, deletions, replacements and neighbour swaps that turn `a` into `b`
// (optimal string alignment distance).
std::size_t edit_distance(const std::string& a, const std::string& b);

// "; did you mean 'x'?" with the closest of `known`, else the first that `name` (of at least four characters) is the
// beginning of, or "" when none is near enough to be what was meant.
std::string did_you_mean(const std::string& name, const std::vector<std::string>& known);

// "a, b or c"
std::string join_choices(const std::vector<std::string>& names);

}  // namespace zbphw
