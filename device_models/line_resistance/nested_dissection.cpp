#include "device_models/line_resistance/nested_dissection.hpp"

#include <algorithm>
#include <utility>

namespace zbphw {
namespace {

// Below this many nodes a dense elimination costs less than cutting further (measured at 128 x 128 and 256 x 256).
constexpr int leaf_nodes = 32;

}  // namespace

int NodeNumbering::Region::size() const { return std::max(0, row_end - row) * std::max(0, column_end - column); }

NodeNumbering::NodeNumbering(int rows, int columns, bool has_word_nodes, bool has_bit_nodes)
    : rows_(rows), columns_(columns) {
  const Region all{0, rows, 0, columns};
  const Region none;
  const std::size_t cells = static_cast<std::size_t>(rows) * columns;
  if (has_word_nodes) word_.resize(cells);
  if (has_bit_nodes) bit_.resize(cells);
  last_steps_ = dissect(has_word_nodes ? all : none, has_bit_nodes ? all : none);
}

std::vector<int> NodeNumbering::dissect(const Region& words, const Region& bits) {
  const int size = words.size() + bits.size();
  if (size == 0) return {};
  if (size <= leaf_nodes) return add_step(words, bits, {});

  const Region& larger = words.size() > bits.size() ? words : bits;
  Region words_before = words;
  Region words_after = words;
  Region bits_before = bits;
  Region bits_after = bits;
  Region cut_words;
  Region cut_bits;
  if (larger.column_end - larger.column >= larger.row_end - larger.row) {
    const int cut = (larger.column + larger.column_end) / 2;
    words_before.column_end = std::min(words.column_end, cut);
    words_after.column = std::max(words.column, cut + 1);
    bits_before.column_end = std::min(bits.column_end, cut);
    bits_after.column = std::max(bits.column, cut);
    if (words.column <= cut && cut < words.column_end) cut_words = {words.row, words.row_end, cut, cut + 1};
  } else {
    const int cut = (larger.row + larger.row_end) / 2;
    words_before.row_end = std::min(words.row_end, cut);
    words_after.row = std::max(words.row, cut);
    bits_before.row_end = std::min(bits.row_end, cut);
    bits_after.row = std::max(bits.row, cut + 1);
    if (bits.row <= cut && cut < bits.row_end) cut_bits = {cut, cut + 1, bits.column, bits.column_end};
  }
  std::vector<int> children = dissect(words_before, bits_before);
  const std::vector<int> more = dissect(words_after, bits_after);
  children.insert(children.end(), more.begin(), more.end());
  if (cut_words.size() + cut_bits.size() == 0) return children;
  return add_step(cut_words, cut_bits, std::move(children));
}

void NodeNumbering::number(std::vector<int>& nodes, const Region& region) {
  for (int row = region.row; row < region.row_end; ++row) {
    for (int column = region.column; column < region.column_end; ++column) nodes[cell(row, column)] = interior_++;
  }
}

std::vector<int> NodeNumbering::add_step(const Region& words, const Region& bits, std::vector<int> children) {
  EliminationStep step;
  step.first = interior_;
  number(word_, words);
  number(bit_, bits);
  step.count = interior_ - step.first;
  step.children = std::move(children);
  steps_.push_back(std::move(step));
  return {static_cast<int>(steps_.size()) - 1};
}

}  // namespace zbphw
