// The circuit of a crossbar whose lines have resistance: what both solvers of this folder take.
//
//     V(i) --Rw-- w(i,0) --Rw-- w(i,1) -- ... (open)      a word line, driven at column 0
//                   |G(i,0)       |G(i,1)
//                 b(i,0)        b(i,1)                    a bit line: open above row 0,
//                   |Rb           |Rb                     read at 0 V below the last row
//                 b(i+1,0)      b(i+1,1)
//
// Rw and Rb are the resistances of one segment, cell to cell; the driver and the reader are each one segment away from
// the nearest cell. A resistance of zero joins the nodes that it connects. Every word-line segment carries current
// away from its driver, every bit-line segment towards its reader, counted positive.
#pragma once

#include <Eigen/Core>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"

namespace zbphw {

// Row-major like a tensor, so that a contiguous tensor of doubles is read in place through Eigen::Map.
using RowMajorMatrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixView = Eigen::Ref<const RowMajorMatrix>;

// What a row does whose applied voltage is exactly zero.
enum class IdleRows {
  held_at_zero,  // its driver holds the end of the word line at 0 V and takes what current comes
  disconnected,  // its driver is switched off: the word line floats, and current sneaks through it between bit lines
};

template <>
struct Choices<IdleRows> {
  static std::vector<std::pair<IdleRows, std::string>> all() {
    return {{IdleRows::held_at_zero, "held_at_zero"}, {IdleRows::disconnected, "disconnected"}};
  }
};

struct LineResistance {
  double word_line_segment_ohm = 0;
  double bit_line_segment_ohm = 0;
  IdleRows idle_rows = IdleRows::held_at_zero;
};

void describe(Fields& f, LineResistance& c);

// Throws a data Error unless there is a cell and every conductance [rows, columns] is finite and at least 0 (0 is an
// open cell), and a config Error unless both segments are finite and at least 0. An open line (an infinite resistance)
// is refused: it is a crossbar with fewer rows or columns.
void check_crossbar(const MatrixView& conductance_siemens, const LineResistance& lines);

// Throws a data Error unless the voltages are finite, [rows, vectors], with this number of rows.
void check_voltages(const MatrixView& voltage_v, Eigen::Index rows);

}  // namespace zbphw
