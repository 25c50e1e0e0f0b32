// The order in which the nodes of a crossbar are eliminated: nested dissection (George 1973) of the array.
//
// A cut between two columns severs only word lines, one between two rows only bit lines; so the nodes of one line
// direction along the cut separate the array in two, as in a plain grid, although a crossbar has two nodes a cell.
// Numbering the separators last, recursively, keeps the fill-in of an n x n array near n^2 log n.
#pragma once

#include <vector>

namespace zbphw {

// One dense elimination: the nodes [first, first + count), after the steps that it depends on.
struct EliminationStep {
  int first = 0;
  int count = 0;
  std::vector<int> children;  // indices of earlier steps whose remainders this step takes in
};

// Numbers the nodes in elimination order: interior nodes first, then the row ports (the drivers), then the column
// ports (the readers). Without word (or bit) nodes of their own, lines are joined to their ports.
class NodeNumbering {
 public:
  // At least one row and one column.
  NodeNumbering(int rows, int columns, bool has_word_nodes, bool has_bit_nodes);

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  int interior() const { return interior_; }
  int ports() const { return rows_ + columns_; }
  int nodes() const { return interior_ + ports(); }

  int word(int row, int column) const { return word_.empty() ? row_port(row) : word_[cell(row, column)]; }
  int bit(int row, int column) const { return bit_.empty() ? column_port(column) : bit_[cell(row, column)]; }
  int row_port(int row) const { return interior_ + row; }
  int column_port(int column) const { return interior_ + rows_ + column; }

  // Children come before the steps that take them in.
  const std::vector<EliminationStep>& steps() const { return steps_; }
  // The steps that no other takes in: their remainders connect the ports.
  const std::vector<int>& last_steps() const { return last_steps_; }

 private:
  // Half-open: rows [row, row_end), columns [column, column_end).
  struct Region {
    int row = 0;
    int row_end = 0;
    int column = 0;
    int column_end = 0;
    int size() const;
  };

  std::size_t cell(int row, int column) const { return static_cast<std::size_t>(row) * columns_ + column; }
  // Returns the steps of the region that are not yet taken in.
  std::vector<int> dissect(const Region& words, const Region& bits);
  void number(std::vector<int>& nodes, const Region& region);
  std::vector<int> add_step(const Region& words, const Region& bits, std::vector<int> children);

  int rows_;
  int columns_;
  int interior_ = 0;
  std::vector<int> word_;
  std::vector<int> bit_;
  std::vector<EliminationStep> steps_;
  std::vector<int> last_steps_;
};

}  // namespace zbphw
