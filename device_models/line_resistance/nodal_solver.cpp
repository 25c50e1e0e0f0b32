#include "device_models/line_resistance/nodal_solver.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.hpp"

namespace zbphw {
namespace {

// Calls visit(node, other_node, siemens) for every conductor of the crossbar.
template <class Visit>
void for_each_branch(const NodeNumbering& nodes, const RowMajorMatrix& conductance, const LineResistance& lines,
                     Visit visit) {
  for (int row = 0; row < nodes.rows(); ++row) {
    for (int column = 0; column < nodes.columns(); ++column) {
      const int word = nodes.word(row, column);
      const int bit = nodes.bit(row, column);
      if (conductance(row, column) > 0) visit(word, bit, conductance(row, column));
      if (lines.word_line_segment_ohm > 0) {
        visit(column == 0 ? nodes.row_port(row) : nodes.word(row, column - 1), word, 1 / lines.word_line_segment_ohm);
      }
      if (lines.bit_line_segment_ohm > 0) {
        visit(bit, row + 1 == nodes.rows() ? nodes.column_port(column) : nodes.bit(row + 1, column),
              1 / lines.bit_line_segment_ohm);
      }
    }
  }
}

// A conductor, kept at that of its two nodes that is eliminated first.
struct Branch {
  int other = 0;
  double siemens = 0;
};

struct BranchesOfNode {
  std::array<Branch, 3> branch;  // a cell and two segments at most
  int count = 0;
};

// Makes a symmetric matrix, of which the lower triangle is given, that of a network of conductors.
void set_diagonal_from_row_sums(Eigen::MatrixXd& lower) {
  Eigen::VectorXd diagonal = Eigen::VectorXd::Zero(lower.rows());
  for (Eigen::Index column = 0; column < lower.cols(); ++column) {
    const Eigen::Index below = lower.rows() - column - 1;
    diagonal[column] -= lower.col(column).tail(below).sum();
    diagonal.tail(below) -= lower.col(column).tail(below);
  }
  lower.diagonal() = diagonal;
}

class Elimination {
 public:
  Elimination(const NodeNumbering& nodes, const RowMajorMatrix& conductance, const LineResistance& lines)
      : nodes_(nodes), position_(nodes.nodes(), -1), branches_(nodes.interior()), remainders_(nodes.steps().size()) {
    port_matrix_ = Eigen::MatrixXd::Zero(nodes.ports(), nodes.ports());
    const int first_port = nodes.interior();
    for_each_branch(nodes, conductance, lines, [&](int node, int other, double siemens) {
      const auto [first, second] = std::minmax(node, other);
      if (first >= first_port) {
        port_matrix_(second - first_port, first - first_port) -= siemens;
      } else {
        BranchesOfNode& at_node = branches_[first];
        at_node.branch[at_node.count++] = {second, siemens};
      }
    });
    for (const EliminationStep& step : nodes.steps()) panels_.push_back(eliminate(step));
  }

  std::vector<EliminationPanel> take_panels() { return std::move(panels_); }

  // The admittance matrix between the ports [rows + columns, rows + columns], symmetric.
  Eigen::MatrixXd port_admittance() {
    for (int port = 0; port < nodes_.ports(); ++port) position_[nodes_.interior() + port] = port;
    for (const int step : nodes_.last_steps()) add_remainder(port_matrix_, step);
    set_diagonal_from_row_sums(port_matrix_);
    return port_matrix_.selfadjointView<Eigen::Lower>();
  }

 private:
  // Eliminates the nodes of one step from the network of the branches that they bring and of the children's remainders.
  EliminationPanel eliminate(const EliminationStep& step) {
    EliminationPanel panel;
    panel.first = step.first;
    panel.boundary = boundary_of(step);
    const auto boundary = static_cast<Eigen::Index>(panel.boundary.size());
    for (int k = 0; k < step.count; ++k) position_[step.first + k] = k;
    for (Eigen::Index k = 0; k < boundary; ++k) position_[panel.boundary[k]] = static_cast<int>(step.count + k);

    Eigen::MatrixXd front = Eigen::MatrixXd::Zero(step.count + boundary, step.count + boundary);
    add_branches(front, step);
    for (const int child : step.children) add_remainder(front, child);
    auto own = front.topLeftCorner(step.count, step.count);
    auto coupling = front.bottomLeftCorner(boundary, step.count);
    const Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>> factor(own);
    if (factor.info() != Eigen::Success) {
      throw numerical_error("crossbar",
                            "the nodal matrix is not positive definite: conductances span too wide a range");
    }
    factor.matrixU().solveInPlace<Eigen::OnTheRight>(coupling);
    Eigen::MatrixXd remainder = front.bottomRightCorner(boundary, boundary);
    remainder.selfadjointView<Eigen::Lower>().rankUpdate(coupling, -1.0);
    set_diagonal_from_row_sums(remainder);
    remainders_[panels_.size()] = std::move(remainder);
    panel.factor = front.leftCols(step.count);
    return panel;
  }

  // The later nodes that the step's nodes are connected to, ascending.
  std::vector<int> boundary_of(const EliminationStep& step) const {
    const int end = step.first + step.count;
    std::vector<int> boundary;
    for (int node = step.first; node < end; ++node) {
      const BranchesOfNode& at_node = branches_[node];
      for (int k = 0; k < at_node.count; ++k) {
        if (at_node.branch[k].other >= end) boundary.push_back(at_node.branch[k].other);
      }
    }
    for (const int child : step.children) {
      for (const int node : panels_[child].boundary) {
        if (node >= end) boundary.push_back(node);
      }
    }
    std::sort(boundary.begin(), boundary.end());
    boundary.erase(std::unique(boundary.begin(), boundary.end()), boundary.end());
    return boundary;
  }

  void add_branches(Eigen::MatrixXd& front, const EliminationStep& step) const {
    for (int k = 0; k < step.count; ++k) {
      const BranchesOfNode& at_node = branches_[step.first + k];
      for (int b = 0; b < at_node.count; ++b) {
        const double siemens = at_node.branch[b].siemens;
        const int other = position_[at_node.branch[b].other];
        front(k, k) += siemens;
        front(other, other) += siemens;
        front(other, k) -= siemens;
      }
    }
  }

  // Adds what an earlier step left over; boundaries ascend, so its lower triangle falls in the lower triangle.
  void add_remainder(Eigen::MatrixXd& target, int step) {
    const std::vector<int>& boundary = panels_[step].boundary;
    Eigen::MatrixXd& remainder = remainders_[step];
    for (std::size_t column = 0; column < boundary.size(); ++column) {
      double* into = target.col(position_[boundary[column]]).data();
      const double* from = remainder.col(column).data();
      for (std::size_t row = column; row < boundary.size(); ++row) into[position_[boundary[row]]] += from[row];
    }
    remainder.resize(0, 0);
  }

  const NodeNumbering& nodes_;
  std::vector<int> position_;  // of each node in the matrix that is being assembled
  std::vector<BranchesOfNode> branches_;
  std::vector<EliminationPanel> panels_;
  std::vector<Eigen::MatrixXd> remainders_;
  Eigen::MatrixXd port_matrix_;
};

std::vector<bool> open_rows(const MatrixView& conductance) {
  std::vector<bool> open;
  for (Eigen::Index row = 0; row < conductance.rows(); ++row) open.push_back(conductance.row(row).maxCoeff() == 0);
  return open;
}

const MatrixView& checked(const MatrixView& conductance, const LineResistance& lines) {
  check_crossbar(conductance, lines);
  return conductance;
}

}  // namespace

NodalFactorisation::NodalFactorisation(const MatrixView& conductance_siemens, const LineResistance& lines)
    : conductance_(checked(conductance_siemens, lines)),
      lines_(lines),
      numbering_(static_cast<int>(conductance_.rows()), static_cast<int>(conductance_.cols()),
                 lines.word_line_segment_ohm > 0, lines.bit_line_segment_ohm > 0),
      ports_(factor()) {}

PortAdmittance NodalFactorisation::factor() {
  Elimination elimination(numbering_, conductance_, lines_);
  const Eigen::MatrixXd admittance = elimination.port_admittance();
  panels_ = elimination.take_panels();
  return {admittance, open_rows(conductance_)};
}

RowMajorMatrix NodalFactorisation::output_currents(const MatrixView& voltage_v) const {
  return ports_.output_currents(voltage_v, lines_.idle_rows);
}

// L^T v = 0 over each panel, its boundary known: back substitution from the ports inwards.
Eigen::VectorXd NodalFactorisation::node_voltages(const Eigen::VectorXd& row_voltage_v) const {
  Eigen::VectorXd voltage = Eigen::VectorXd::Zero(numbering_.nodes());
  voltage.segment(numbering_.row_port(0), numbering_.rows()) = row_voltage_v;
  for (auto panel = panels_.rbegin(); panel != panels_.rend(); ++panel) {
    const Eigen::Index count = panel->factor.cols();
    Eigen::VectorXd front(panel->factor.rows());
    front.tail(front.size() - count) = voltage(panel->boundary);
    for (Eigen::Index k = count - 1; k >= 0; --k) {
      const Eigen::Index below = front.size() - k - 1;
      front[k] = -panel->factor.col(k).tail(below).dot(front.tail(below)) / panel->factor(k, k);
    }
    voltage.segment(panel->first, count) = front.head(count);
  }
  return voltage;
}

NodeState NodalFactorisation::node_state(const MatrixView& voltage_v) const {
  check_voltages(voltage_v, ports_.rows());
  if (voltage_v.cols() != 1) {
    throw data_error("applied voltages",
                     "got " + std::to_string(voltage_v.cols()) + " vectors; allowed: one for the state of all nodes");
  }
  NodeState state;
  state.row_voltage_v = ports_.row_voltages(voltage_v, lines_.idle_rows).col(0);
  state.output_current_a = ports_.transfer_matrix() * state.row_voltage_v;
  const Eigen::VectorXd voltage = node_voltages(state.row_voltage_v);
  state.word_node_v.resize(conductance_.rows(), conductance_.cols());
  state.bit_node_v.resize(conductance_.rows(), conductance_.cols());
  for (int row = 0; row < numbering_.rows(); ++row) {
    for (int column = 0; column < numbering_.columns(); ++column) {
      state.word_node_v(row, column) = voltage[numbering_.word(row, column)];
      state.bit_node_v(row, column) = voltage[numbering_.bit(row, column)];
    }
  }
  // Line currents by Kirchhoff's law from the open ends: right for segments of zero resistance too.
  state.device_current_a = conductance_.cwiseProduct(state.word_node_v - state.bit_node_v);
  state.word_line_current_a = state.device_current_a;
  for (Eigen::Index column = conductance_.cols() - 1; column > 0; --column) {
    state.word_line_current_a.col(column - 1) += state.word_line_current_a.col(column);
  }
  state.bit_line_current_a = state.device_current_a;
  for (Eigen::Index row = 1; row < conductance_.rows(); ++row) {
    state.bit_line_current_a.row(row) += state.bit_line_current_a.row(row - 1);
  }
  return state;
}

}  // namespace zbphw
