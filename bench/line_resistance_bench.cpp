// What line resistance costs: every row is also given in dense products, the plain product of the same size with one
// vector. n x n cells, 0 to 25 uS, 5 ohm a segment. CPU time, one thread.
#include <benchmark/benchmark.h>

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>
#include <map>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "device_models/line_resistance/fast_solver.hpp"
#include "device_models/line_resistance/nodal_solver.hpp"

namespace {

using zbphw::IdleRows;
using zbphw::LineResistance;
using zbphw::NodalFactorisation;
using zbphw::RowMajorMatrix;

constexpr int batch = 64;

RowMajorMatrix random_matrix(int rows, int columns, double high, std::uint64_t seed) {
  const zbphw::RandomAt at(seed, zbphw::stream_id("line resistance benchmark"));
  RowMajorMatrix matrix(rows, columns);
  for (int k = 0; k < rows * columns; ++k) {
    matrix(k / columns, k % columns) = high * at.uniform(static_cast<std::uint32_t>(k));
  }
  return matrix;
}

RowMajorMatrix cells(const benchmark::State& state) {
  const int n = static_cast<int>(state.range(0));
  return random_matrix(n, n, 25e-6, 1);
}

// Half of each vector is idle, in a pattern of its own.
RowMajorMatrix inputs(const benchmark::State& state, int vectors) {
  const int n = static_cast<int>(state.range(0));
  const RowMajorMatrix voltage = random_matrix(n, vectors, 0.2, 2);
  return (voltage.array() < 0.1).select(0.0, voltage);
}

LineResistance lines(IdleRows idle_rows) { return {5, 5, idle_rows}; }

void dense_product(benchmark::State& state) {
  const RowMajorMatrix weights = cells(state).transpose();
  const RowMajorMatrix voltage = inputs(state, 1);
  RowMajorMatrix current(weights.rows(), 1);
  for (auto _ : state) {
    current.noalias() = weights * voltage;
    benchmark::DoNotOptimize(current.data());
  }
}

void dense_product_batch_64(benchmark::State& state) {
  const RowMajorMatrix weights = cells(state).transpose();
  const RowMajorMatrix voltage = inputs(state, batch);
  RowMajorMatrix current(weights.rows(), batch);
  for (auto _ : state) {
    current.noalias() = weights * voltage;
    benchmark::DoNotOptimize(current.data());
  }
}

void exact_factorisation(benchmark::State& state) {
  const RowMajorMatrix conductance = cells(state);
  for (auto _ : state) {
    const NodalFactorisation factorisation(conductance, lines(IdleRows::held_at_zero));
    benchmark::DoNotOptimize(&factorisation);
  }
}

void exact_products(benchmark::State& state, int vectors, IdleRows idle_rows) {
  const NodalFactorisation factorisation(cells(state), lines(idle_rows));
  const RowMajorMatrix voltage = inputs(state, vectors);
  for (auto _ : state) {
    const RowMajorMatrix current = factorisation.output_currents(voltage);
    benchmark::DoNotOptimize(current.data());
  }
}

void exact_product_held(benchmark::State& state) { exact_products(state, 1, IdleRows::held_at_zero); }
void exact_product_held_batch_64(benchmark::State& state) { exact_products(state, batch, IdleRows::held_at_zero); }
void exact_product_disconnected(benchmark::State& state) { exact_products(state, 1, IdleRows::disconnected); }
void exact_product_disconnected_batch_64(benchmark::State& state) {
  exact_products(state, batch, IdleRows::disconnected);
}

void exact_node_state(benchmark::State& state) {
  const NodalFactorisation factorisation(cells(state), lines(IdleRows::held_at_zero));
  const RowMajorMatrix voltage = inputs(state, 1);
  for (auto _ : state) {
    const zbphw::NodeState nodes = factorisation.node_state(voltage);
    benchmark::DoNotOptimize(nodes.output_current_a.data());
  }
}

void fast_setup(benchmark::State& state) {
  const RowMajorMatrix conductance = cells(state);
  for (auto _ : state) {
    const zbphw::FastSolver solver(conductance, lines(IdleRows::held_at_zero));
    benchmark::DoNotOptimize(&solver);
  }
}

void fast_product(benchmark::State& state, double tolerance, IdleRows idle_rows) {
  const zbphw::FastSolver solver(cells(state), lines(idle_rows));
  const RowMajorMatrix voltage = inputs(state, 1);
  zbphw::FastSolverOptions options;
  options.tolerance = tolerance;
  for (auto _ : state) {
    const zbphw::FastResult result = solver.solve(voltage, options);
    benchmark::DoNotOptimize(result.output_current_a.data());
  }
}

void fast_product_to_1e4(benchmark::State& state) { fast_product(state, 1e-4, IdleRows::held_at_zero); }
void fast_product_to_1e9(benchmark::State& state) { fast_product(state, 1e-9, IdleRows::held_at_zero); }
void fast_product_to_1e9_disconnected(benchmark::State& state) { fast_product(state, 1e-9, IdleRows::disconnected); }

// The same circuit for a general sparse solver.
struct SparseCircuit {
  Eigen::SparseMatrix<double> matrix;  // [2 n n, 2 n n], lower triangle
  Eigen::VectorXd current;
};

SparseCircuit sparse_circuit(const RowMajorMatrix& conductance, const RowMajorMatrix& voltage) {
  const int rows = static_cast<int>(conductance.rows());
  const int columns = static_cast<int>(conductance.cols());
  const double segment = 1.0 / 5;
  std::vector<Eigen::Triplet<double>> entries;
  const auto add = [&](int low, int high, double siemens) {
    entries.emplace_back(low, low, siemens);
    entries.emplace_back(high, high, siemens);
    entries.emplace_back(high, low, -siemens);
  };
  SparseCircuit circuit;
  circuit.current = Eigen::VectorXd::Zero(2 * rows * columns);
  for (int row = 0; row < rows; ++row) {
    for (int column = 0; column < columns; ++column) {
      const int word = row * columns + column;
      const int bit = rows * columns + word;
      add(word, bit, conductance(row, column));
      if (column + 1 < columns) add(word, word + 1, segment);
      if (row + 1 < rows) add(bit, bit + columns, segment);
      if (row + 1 == rows) entries.emplace_back(bit, bit, segment);
      if (column == 0) entries.emplace_back(word, word, segment);
      if (column == 0) circuit.current[word] = segment * voltage(row, 0);
    }
  }
  circuit.matrix.resize(2 * rows * columns, 2 * rows * columns);
  circuit.matrix.setFromTriplets(entries.begin(), entries.end());
  return circuit;
}

void eigen_simplicial_ldlt_factorisation(benchmark::State& state) {
  const SparseCircuit circuit = sparse_circuit(cells(state), inputs(state, 1));
  for (auto _ : state) {
    const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(circuit.matrix);
    benchmark::DoNotOptimize(&solver);
  }
}

void eigen_simplicial_ldlt_solve(benchmark::State& state) {
  const SparseCircuit circuit = sparse_circuit(cells(state), inputs(state, 1));
  const Eigen::SimplicialLDLT<Eigen::SparseMatrix<double>> solver(circuit.matrix);
  for (auto _ : state) {
    const Eigen::VectorXd voltage = solver.solve(circuit.current);
    benchmark::DoNotOptimize(voltage.data());
  }
}

// Adds the ratio to the dense product of the same size, which runs first.
class RatioReporter : public benchmark::ConsoleReporter {
 public:
  RatioReporter() : ConsoleReporter(OO_Tabular) {}

  void ReportRuns(const std::vector<Run>& reports) override {
    std::vector<Run> with_ratio = reports;
    for (Run& run : with_ratio) {
      const std::string size = run.run_name.args;
      if (run.run_name.function_name == "dense_product") dense_product_[size] = run.GetAdjustedCPUTime();
      run.counters["dense_products"] = run.GetAdjustedCPUTime() / dense_product_[size];
    }
    ConsoleReporter::ReportRuns(with_ratio);
  }

 private:
  std::map<std::string, double> dense_product_;
};

void sizes(benchmark::internal::Benchmark* benchmark) { benchmark->Arg(64)->Arg(128)->Arg(256); }

BENCHMARK(dense_product)->Apply(sizes);
BENCHMARK(dense_product_batch_64)->Apply(sizes);
BENCHMARK(exact_factorisation)->Apply(sizes);
BENCHMARK(exact_product_held)->Apply(sizes);
BENCHMARK(exact_product_held_batch_64)->Apply(sizes);
BENCHMARK(exact_product_disconnected)->Apply(sizes);
BENCHMARK(exact_product_disconnected_batch_64)->Apply(sizes);
BENCHMARK(exact_node_state)->Apply(sizes);
BENCHMARK(fast_setup)->Apply(sizes);
BENCHMARK(fast_product_to_1e4)->Apply(sizes);
BENCHMARK(fast_product_to_1e9)->Apply(sizes);
BENCHMARK(fast_product_to_1e9_disconnected)->Apply(sizes);
BENCHMARK(eigen_simplicial_ldlt_factorisation)->Apply(sizes);
BENCHMARK(eigen_simplicial_ldlt_solve)->Apply(sizes);

}  // namespace

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  RatioReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter);
  return 0;
}
