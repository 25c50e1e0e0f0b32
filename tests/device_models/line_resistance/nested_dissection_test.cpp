#include "device_models/line_resistance/nested_dissection.hpp"

#include <catch2/catch.hpp>
#include <set>

using zbphw::EliminationStep;
using zbphw::NodeNumbering;

TEST_CASE("every node has one number, and every interior number belongs to one step") {
  const int rows = GENERATE(1, 2, 7, 40);
  const int columns = GENERATE(1, 3, 33);
  const bool has_word_nodes = GENERATE(false, true);
  const bool has_bit_nodes = GENERATE(false, true);
  const NodeNumbering nodes(rows, columns, has_word_nodes, has_bit_nodes);
  CHECK(nodes.interior() == rows * columns * (static_cast<int>(has_word_nodes) + static_cast<int>(has_bit_nodes)));

  std::set<int> numbers;
  for (int row = 0; row < rows; ++row) {
    numbers.insert(nodes.row_port(row));
    for (int column = 0; column < columns; ++column) {
      numbers.insert(nodes.word(row, column));
      numbers.insert(nodes.bit(row, column));
      numbers.insert(nodes.column_port(column));
      if (!has_word_nodes) CHECK(nodes.word(row, column) == nodes.row_port(row));
      if (!has_bit_nodes) CHECK(nodes.bit(row, column) == nodes.column_port(column));
    }
  }
  CHECK(static_cast<int>(numbers.size()) == nodes.nodes());
  CHECK(*numbers.begin() == 0);
  CHECK(*numbers.rbegin() == nodes.nodes() - 1);

  int next = 0;
  for (const EliminationStep& step : nodes.steps()) {
    CHECK(step.first == next);
    CHECK(step.count > 0);
    next += step.count;
  }
  CHECK(next == nodes.interior());
}

TEST_CASE("every step is taken in once, by a later step or by the ports") {
  const NodeNumbering nodes(23, 57, true, true);
  std::vector<int> taken(nodes.steps().size(), 0);
  for (std::size_t parent = 0; parent < nodes.steps().size(); ++parent) {
    for (const int child : nodes.steps()[parent].children) {
      CHECK(child < static_cast<int>(parent));
      ++taken[child];
    }
  }
  for (const int step : nodes.last_steps()) ++taken[step];
  CHECK(taken == std::vector<int>(taken.size(), 1));
}
