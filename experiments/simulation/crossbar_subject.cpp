#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <iomanip>
#include <numeric>
#include <sstream>

#include "base/error.hpp"
#include "experiments/simulation/subject.hpp"
#include "hw/crossbar/crossbar_linear.hpp"

namespace zbphw {
namespace {

constexpr std::size_t histogram_bins = 20;

// Both cells of each pair as they lie in the array: [inputs, 2 outputs], G+ and G- of an output side by side.
std::vector<double> side_by_side(const CellPairs& pairs) {
  std::vector<double> array;
  array.reserve(2 * pairs.plus.size());
  for (std::size_t k = 0; k < pairs.plus.size(); ++k) {
    array.push_back(pairs.plus[k]);
    array.push_back(pairs.minus[k]);
  }
  return array;
}

// Which cells are stuck, as they lie in the array: 0 not, 1 off, 2 on.
std::vector<std::uint8_t> stuck_cells(const ProgrammedTile& tile) {
  const std::vector<DeviceFault> plus = tile.faults(0), minus = tile.faults(1);
  std::vector<std::uint8_t> array;
  array.reserve(2 * plus.size());
  for (std::size_t k = 0; k < plus.size(); ++k) {
    for (const DeviceFault fault : {plus[k], minus[k]}) {
      array.push_back(fault == DeviceFault::none ? 0 : fault == DeviceFault::stuck_off ? 1 : 2);
    }
  }
  return array;
}

struct Histogram {
  double top_us = 0;
  std::vector<std::int64_t> counts = std::vector<std::int64_t>(histogram_bins);

  void add(const std::vector<double>& values) {
    for (const double v : values) {
      const double place = v / top_us * static_cast<double>(histogram_bins);
      ++counts[std::min(static_cast<std::size_t>(std::max(place, 0.0)), histogram_bins - 1)];
    }
  }
};

struct TileSeries {
  TraceWriter::Series target;
  TraceWriter::Series programmed;
  TraceWriter::Series stuck;
  std::vector<TraceWriter::Series> at;
};

class CrossbarSubject final : public SimulationSubject {
 public:
  CrossbarSubject(const CrossbarConfig& config, const at::Tensor& weights, std::uint64_t seed)
      : config_(config), weights_(weights), seed_(seed), block_(config, request(weights, seed, {})) {
    block_.program(weights_);
  }

  std::string block_name() const override { return block_.spec().name; }
  std::int64_t inputs() const override { return block_.spec().input_width; }
  std::int64_t outputs() const override { return block_.spec().output_width; }

  ChipTotals serve(std::int64_t queries, const QueryObserver& observer, const std::string& vcd_path) override {
    return simulate_chip(config_.chip, block_.query_shape(), {queries, 1}, observer, vcd_path);
  }
  EnergySources energy_sources() const override { return energy_sources_of(config_.chip); }
  std::optional<QueryTiming> timing() const override { return query_timing(config_.chip, block_.query_shape()); }
  std::int64_t operations_per_query() const override { return 2 * inputs() * outputs(); }

  at::Tensor ideal(const at::Tensor& inputs) override {
    return at::mm(inputs.to(at::kDouble), weights_.to(at::kDouble).t());
  }

  std::vector<std::string> error_sources() const override {
    std::vector<std::string> names;
    for (const auto& [name, member] : crossbar_effects()) names.push_back(name);
    return names;
  }

  bool has_source(const std::string& source) const override;
  Reading read(const at::Tensor& inputs, const std::string& source_off, double t_s) override;

  double first_time_s() const override { return block_.first_time_s(); }
  std::vector<double> drift_times_s() const override;
  void check_time(double t_s) const override;
  Json details() const override;
  std::string details_text() const override;
  EnergyByComponent programming_energy() const override {
    EnergyByComponent energy;
    energy.programming_j = block_.arrays().report().energy_j;
    return energy;
  }

  void declare_state(TraceWriter& trace, const std::vector<double>& at_s) override;
  void write_state(TraceWriter& trace, const std::vector<double>& at_s) override;

 private:
  static CrossbarRequest request(const at::Tensor& weights, std::uint64_t seed, const CrossbarEffects& effects) {
    CrossbarRequest request;
    request.outputs = weights.size(0);
    request.inputs = weights.size(1);
    request.seed = seed;
    request.effects = effects;
    return request;
  }
  Histogram histogram(const CellPairs& (ProgrammedTile::*state)() const, double top_us) const;
  double largest_us() const;
  Json line_details() const;

  CrossbarConfig config_;
  at::Tensor weights_;
  std::uint64_t seed_;
  CrossbarLinear block_;
  std::vector<std::vector<std::int64_t>> saturated_by_adc_;  // of the first reading
  std::vector<TileSeries> series_;
};

// Queries that are asked at a time: what bounds the memory of a reading.
constexpr std::int64_t batch_rows = 256;

Reading ask_all(CrossbarLinear& block, const at::Tensor& inputs) {
  const Meter start = block.meter();
  Reading reading;
  reading.values = at::empty({inputs.size(0), block.spec().output_width}, at::kFloat);
  QueryBatch batch;
  for (std::int64_t first = 0; first < inputs.size(0); first += batch_rows) {
    const std::int64_t rows = std::min(batch_rows, inputs.size(0) - first);
    batch.inputs = inputs.narrow(0, first, rows);
    batch.slot.first_row = static_cast<std::uint32_t>(first);
    // Every query sees the state of the time that is asked about, however long the batches before it took.
    batch.slot.start_s = block.arrays().loaded_s();
    reading.values.narrow(0, first, rows).copy_(block.query(batch).values);
    for (std::int64_t r = 0; r < rows; ++r) {
      reading.saturated.push_back(block.saturated_inputs_by_row()[r] + block.saturated_outputs_by_row()[r]);
    }
  }
  reading.saturated_outputs = block.meter().saturated_outputs - start.saturated_outputs;
  reading.adc_conversions = block.meter().adc_conversions - start.adc_conversions;
  return reading;
}

Reading CrossbarSubject::read(const at::Tensor& inputs, const std::string& source_off, double t_s) {
  CrossbarEffects effects;
  for (const auto& [name, member] : crossbar_effects()) {
    if (name == source_off) effects.*member = false;
  }
  if (!effects.programming || !effects.device_to_device || !effects.temperature) {
    // Another chip, so that this one keeps what was written.
    CrossbarLinear other(config_, request(weights_, seed_, effects));
    other.program(weights_);
    other.age_to(t_s);
    return ask_all(other, inputs);
  }
  block_.set_effects(effects);
  block_.age_to(t_s);
  Reading reading = ask_all(block_, inputs);
  if (saturated_by_adc_.empty()) saturated_by_adc_ = block_.saturated_by_adc();
  return reading;
}

bool CrossbarSubject::has_source(const std::string& source) const {
  const Json& cell = block_.arrays().cell().config();
  if (source == "device_to_device" || source == "temperature")
    return cell.contains(source) && !cell.at(source).is_null();
  if (source == "input_noise") return config_.input_noise_fraction > 0;
  if (source == "comparator_noise") return config_.comparator_noise_steps > 0;
  const ColumnMismatchConfig& mismatch = config_.column_mismatch;
  if (source == "column_mismatch") return mismatch.gain_spread > 0 || mismatch.offset_spread_fraction > 0;
  if (source == "dac") return config_.dac.bits.has_value();
  if (source == "adc") return config_.adc.bits.has_value();
  if (source == "saturation") return config_.dac.bits || config_.adc.bits;
  if (source == "line_resistance") return config_.lines.has_value();
  return true;
}

std::vector<double> CrossbarSubject::drift_times_s() const {
  const TimeRange range = block_.arrays().cell().time_range();
  std::vector<double> times = {range.first_s};
  for (const double t_s : {1.0, 60.0, 3600.0, 86400.0, 2592000.0}) {
    if (t_s > range.first_s && t_s <= range.last_s) times.push_back(t_s);
  }
  return times;
}

void CrossbarSubject::check_time(double t_s) const {
  const TimeRange range = block_.arrays().cell().time_range();
  if (t_s >= range.first_s && t_s <= range.last_s) return;
  std::ostringstream message;
  message << "--at-s: got " << t_s << "; the cell model " << block_.arrays().cell().name() << " covers "
          << range.first_s << " to " << range.last_s << " s after programming";
  throw usage_error(message.str());
}

double CrossbarSubject::largest_us() const {
  double largest = block_.arrays().cell().g_max_us();
  for (const ProgrammedTile& tile : block_.arrays().tiles()) {
    for (const std::vector<double>* cells : {&tile.programmed_us().plus, &tile.programmed_us().minus}) {
      largest = std::max(largest, *std::max_element(cells->begin(), cells->end()));
    }
  }
  return largest;
}

Histogram CrossbarSubject::histogram(const CellPairs& (ProgrammedTile::*state)() const, double top_us) const {
  Histogram result;
  result.top_us = top_us;
  for (const ProgrammedTile& tile : block_.arrays().tiles()) {
    result.add((tile.*state)().plus);
    result.add((tile.*state)().minus);
  }
  return result;
}

// null without resistive lines.
Json CrossbarSubject::line_details() const {
  if (!config_.lines) return {};
  const bool exact = config_.lines->solver == LineSolver::exact;
  return {{"solver", exact ? "exact" : "fast"},
          {"largest_residual", exact ? Json() : Json(block_.arrays().largest_residual())}};
}

Json CrossbarSubject::details() const {
  const ProgrammingReport& programming = block_.arrays().report();
  const double top_us = largest_us();
  Json edges = Json::array();
  for (std::size_t k = 0; k <= histogram_bins; ++k) {
    edges.push_back(top_us * static_cast<double>(k) / static_cast<double>(histogram_bins));
  }
  return {{"cell", block_.arrays().cell().config()},
          {"tiles", block_.arrays().tiles().size()},
          {"clipped_weights", block_.arrays().clipped_weights()},
          {"programming",
           {{"devices", programming.devices},
            {"writes", programming.writes},
            {"rejected", programming.rejected},
            {"time_s", programming.time_s},
            {"energy_j", programming.energy_j},
            {"source", config_.programming.source}}},
          {"saturated_by_adc", saturated_by_adc_},
          {"line_resistance", line_details()},
          {"conductance_histogram",
           {{"edges_us", edges},
            {"target", histogram(&ProgrammedTile::target_us, top_us).counts},
            {"programmed", histogram(&ProgrammedTile::programmed_us, top_us).counts}}}};
}

std::string CrossbarSubject::details_text() const {
  const ProgrammingReport& programming = block_.arrays().report();
  std::ostringstream out;
  out << std::setprecision(3);
  out << "programming\n  " << programming.devices << " devices, tiles: " << block_.arrays().tiles().size()
      << " of at most " << config_.tile_rows << " x " << config_.tile_columns << " pairs; "
      << static_cast<double>(programming.writes) / static_cast<double>(programming.devices) << " writes a device, "
      << programming.rejected << " rejected; " << programming.time_s << " s, " << programming.energy_j << " J ("
      << config_.programming.source << ")\n";
  const auto source = block_.arrays().cell().config().find("source");
  out << "  cell " << block_.arrays().cell().name();
  if (source != block_.arrays().cell().config().end()) out << ": " << source->get<std::string>();
  out << "\n";
  if (config_.lines) {
    out << "  lines " << config_.lines->resistance.word_line_segment_ohm << " and "
        << config_.lines->resistance.bit_line_segment_ohm << " ohm a segment, ";
    if (config_.lines->solver == LineSolver::exact) out << "solved exactly\n";
    if (config_.lines->solver == LineSolver::fast)
      out << "largest residual " << block_.arrays().largest_residual() << "\n";
  }
  if (block_.arrays().clipped_weights() > 0)
    out << "  " << block_.arrays().clipped_weights() << " weights were clipped\n";
  return out.str();
}

void CrossbarSubject::declare_state(TraceWriter& trace, const std::vector<double>& at_s) {
  for (const ProgrammedTile& tile : block_.arrays().tiles()) {
    const std::string group = "/tiles/" + std::to_string(tile.place().number) + "/";
    const std::vector<std::int64_t> row = {2 * tile.place().outputs};
    TileSeries series;
    series.target =
        trace.add_series({group + "target_us", "uS", "what was asked for; G+ and G- of an output side by side", row});
    series.programmed = trace.add_series({group + "programmed_us", "uS", "what the devices held after writing", row});
    series.stuck = trace.add_series(
        {group + "stuck", "1", "0: the device follows, 1: it stays off, 2: it stays on", row, Hdf5Type::uint8});
    for (std::size_t k = 0; k < at_s.size(); ++k) {
      const std::string name = group + "at_" + std::to_string(k) + "_us";
      series.at.push_back(trace.add_series({name, "uS", "what the devices held at t_s after programming", row}));
      trace.set_attribute(name, "t_s", at_s[k]);
    }
    series_.push_back(series);
  }
}

void CrossbarSubject::write_state(TraceWriter& trace, const std::vector<double>& at_s) {
  for (std::size_t n = 0; n < series_.size(); ++n) {
    const ProgrammedTile& tile = block_.arrays().tiles()[n];
    const std::int64_t rows = tile.place().inputs;
    trace.append(series_[n].target, side_by_side(tile.target_us()).data(), rows);
    trace.append(series_[n].programmed, side_by_side(tile.programmed_us()).data(), rows);
    trace.append(series_[n].stuck, stuck_cells(tile).data(), rows);
    for (std::size_t k = 0; k < at_s.size(); ++k) {
      trace.append(series_[n].at[k], side_by_side(tile.conductance_us(at_s[k])).data(), rows);
    }
  }
}

}  // namespace

std::unique_ptr<SimulationSubject> crossbar_subject(const DeviceConfig& device, const at::Tensor& weights,
                                                    std::uint64_t seed) {
  return std::make_unique<CrossbarSubject>(*device.crossbar, weights, seed);
}

}  // namespace zbphw
