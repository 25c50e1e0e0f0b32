// The physical block: the one door between learning and hardware.
//
// A block is a nonlinear part of the model (a softmax score core, a SwiGLU gate, a crossbar) that can only be
// *queried*: voltages in, voltages out. Nothing above hw/ differentiates through one or asks which device is behind it;
// simulators of three fidelities (ideal, noisy, systemc) and real chips (plugins) are all PhysicalBlocks.
//
// Values at a block's port are in the model's units; the block scales them to its converters' ranges and back. They are
// fp32; a simulator without effects (ideal) also takes fp64, for checks of the mathematics around it. Rows are
// independent physical queries. Not thread-safe: one caller at a time; a block uses the process's threads inside.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"
#include "hw/kernels/row_kernels.hpp"
#include "hw/meter.hpp"

namespace zbphw {

// Which outputs an input can reach. Hardware teams know their wiring, and an estimator may use it.
enum class Locality {
  elementwise,  // input j reaches output (j mod output_width) alone
  row,          // every input of a row reaches every output of that row
  dense,        // as row, through weights that the block holds
};

struct BlockSpec {
  std::string name;  // as in the device file: "softmax", "swiglu"
  std::int64_t input_width = 0;
  std::int64_t output_width = 0;
  Locality locality = Locality::row;
  // Row r takes only its first (r mod causal_period) + 1 inputs: the causal rows of a [.., T, T] score matrix.
  // The entries beyond are neither driven nor read. 0: every row is whole.
  std::int64_t causal_period = 0;
};

// Where and when a row's query stands in the run: the address of its noise, and its place in the device's time.
// Noise is a pure function of this and the element, so chunking and threads never change a result.
struct QuerySlot {
  std::uint32_t step = 0;             // training step, or any number that tells this use of the block from others
  std::uint32_t block = 0;            // which block of the model asks: its layer
  std::uint32_t first_row = 0;        // number of the batch's first row
  std::uint32_t queries_per_row = 1;  // queries that one row gets in a sequence
  std::uint32_t query_in_row = 0;     // which of them this is, in time order
  // Device time at which the sequence of the whole batch starts; negative: now.
  double start_s = -1;
};

struct QueryBatch {
  at::Tensor inputs;  // [rows, input_width]
  QuerySlot slot;
  // The point that the converters' per_input ranges are taken from, [rows, input_width]; undefined: the inputs. All
  // queries of one probe sequence share it: a range that moved between two sides would be read as a signal.
  at::Tensor range_point;
  // Room that a per_input DAC range leaves beyond range_point's largest magnitude: the probe's amplitude.
  double range_margin = 0;
};

struct Readout {
  at::Tensor values;   // [rows, output_width] what the ADC gave
  at::Tensor applied;  // [rows, input_width] the inputs as the DAC produced them (the digital side knows its codes)
};

// The time order of a probe's two sides, next to each other in any case. `alternating`: + -. `mirrored`: + - - +, both
// sides asked twice and averaged: a drift that is linear in time cancels, for twice the queries.
enum class SideOrder { alternating, mirrored };
template <>
struct Choices<SideOrder> {
  static std::vector<std::pair<SideOrder, std::string>> all() {
    return {{SideOrder::alternating, "+-"}, {SideOrder::mirrored, "+--+"}};
  }
};
constexpr std::int64_t queries_per_probe(SideOrder order) { return order == SideOrder::mirrored ? 4 : 2; }

// Many perturbed queries of one point, contracted with a cotangent on the digital side. Central pairs of Rademacher
// probes: for k < probes, u_k in {-1, 1}^input_width drawn at (slot, row, k), both sides next to each other in time, +
// first.
struct ProbeRequest {
  at::Tensor point;      // [rows, input_width]
  at::Tensor cotangent;  // [rows, output_width]
  std::int64_t probes = 16;
  SideOrder order = SideOrder::alternating;
  double amplitude = 1;    // rho, in port units; a finite DAC rounds it down to whole steps, at least one
  std::uint64_t seed = 1;  // of the probes (a block's own noise has the seed that it was made with)
  QuerySlot slot;          // queries_per_row and query_in_row are set by probe()
};

struct ProbeReadout {
  // [rows, probes]: cotangent . [y(x + rho u_k) - y(x - rho u_k)] / (2 rho_row)
  at::Tensor responses;
  // [rows, input_width]: (1 / probes) sum_k responses_k / u_k, with u_k as the DAC produced it: +-1, smaller where the
  // input was clipped; 0 for an input that was not moved
  at::Tensor estimate;
};

class PhysicalBlock {
 public:
  virtual ~PhysicalBlock() = default;

  virtual const BlockSpec& spec() const = 0;

  // One physical query a row. Advances clock() and books on meter().
  // Throws a numerical Error when an input is not finite, and a config Error when the shape is not [rows, input_width].
  virtual Readout query(const QueryBatch& batch) = 0;

  // The default makes every perturbed row and asks query(). A simulator may fuse it, never holding the perturbed rows,
  // and then returns what the default returns, to float rounding.
  virtual ProbeReadout probe(const ProbeRequest& request);

  // The step in which a row's amplitude is counted: one DAC step of the row's range, or 0 for an ideal DAC.
  // [rows] for range_point [rows, input_width], whose rows are numbered from first_row.
  virtual at::Tensor dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const = 0;

  // Writes weights [output_width, input_width] into a block that holds some; books the time and energy of writing.
  // Throws a device Error for a block that holds none.
  virtual void program(const at::Tensor& weights);

  // Standard deviation of one readout's noise at each row, [rows]: what a data sheet says about the read chain at this
  // range (read noise and conversion). For predictions only; an estimator's result never depends on it.
  virtual at::Tensor readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) = 0;

  // Simulated (or real) device time in seconds since the block was calibrated first.
  virtual double clock_s() const = 0;
  virtual const Meter& meter() const = 0;

  // Sets both to what they were when a run was saved. Real hardware has its own clock and keeps it.
  virtual void resume_at(double clock_s, const Meter& meter) = 0;
};

// The explicit probe path: the default of probe(), callable on any block by tests of fused paths.
ProbeReadout probe_by_queries(PhysicalBlock& block, const ProbeRequest& request);

// A central pair: what the readings and the applied inputs at point + step are more than those at point - step.
struct PairDifference {
  at::Tensor values;   // [rows, output_width]
  at::Tensor applied;  // [rows, input_width]
};

// Queries of probe number `probe` of a sequence whose slot and range `batch` describes, in the order that was asked
// for; with mirrored sides the mean of the two pairs.
PairDifference query_pair(PhysicalBlock& block, QueryBatch batch, const at::Tensor& step, std::int64_t probe,
                          SideOrder order);

// The sequence of central pairs that a probe request stands for, started now: range taken at its point.
QueryBatch pair_sequence(const PhysicalBlock& block, const ProbeRequest& request, double range_margin);

// The amplitude that each row really gets: the request's, rounded down to whole DAC steps, at least one; [rows].
at::Tensor realised_amplitude(const PhysicalBlock& block, const ProbeRequest& request);

// The Rademacher signs of probe k for a request's rows: [rows, input_width] of -1 and 1, fp32.
at::Tensor rademacher_signs(const ProbeRequest& request, std::int64_t probe);

// Where the sign bits of a row's probe 0 are drawn (kernels/row_kernels.hpp, sign_rows); probe k has query + k.
DrawAddress probe_address(const ProbeRequest& request, std::int64_t row);

}  // namespace zbphw
