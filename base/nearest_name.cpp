#include "base/nearest_name.hpp"

#include <algorithm>

namespace zbphw {

std::size_t edit_distance(const std::string& a, const std::string& b) {
  std::vector<std::vector<std::size_t>> cost(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) cost[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) cost[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = cost[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      cost[i][j] = std::min({cost[i - 1][j] + 1, cost[i][j - 1] + 1, replace});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) cost[i][j] = std::min(cost[i][j], cost[i - 2][j - 2] + 1);
    }
  }
  return cost[a.size()][b.size()];
}

std::string did_you_mean(const std::string& name, const std::vector<std::string>& known) {
  // A third of the name may be wrong; beyond that a suggestion is a guess that misleads.
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  const std::string* best = nullptr;
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = &candidate;
    }
  }
  // The beginning of a long name is what was meant however long the rest is.
  constexpr std::size_t shortest_beginning = 4;
  for (const std::string& candidate : known) {
    const bool begins = name.size() >= shortest_beginning && candidate.compare(0, name.size(), name) == 0;
    if (best == nullptr && begins) best = &candidate;
  }
  return best == nullptr ? "" : "; did you mean '" + *best + "'?";
}

std::string join_choices(const std::vector<std::string>& names) {
  std::string text;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) text += i + 1 == names.size() ? " or " : ", ";
    text += names[i];
  }
  return text;
}

}  // namespace zbphw
