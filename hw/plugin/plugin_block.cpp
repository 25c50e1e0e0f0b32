#include "hw/plugin/plugin_block.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "base/error.hpp"

namespace zbphw {
namespace {

// The block that zbphw simulates under this name, without effects; null for a plugin's own kind.
std::unique_ptr<PhysicalBlock> simulated(const std::string& kind, BlockRequest request) {
  if (!computes_known_function(kind)) return nullptr;
  request.fidelity = Fidelity::ideal;
  return make_block(kind, {Json::object(), "block " + kind}, request);
}

SentFloats sent(const at::Tensor& tensor) {
  if (!tensor.defined()) return {};
  return {tensor.data_ptr<float>(), tensor.numel()};
}

WantedFloats wanted(at::Tensor& tensor) { return {tensor.data_ptr<float>(), tensor.numel()}; }

std::string from_to(const char* one, const char* many, std::int64_t first, std::int64_t count) {
  if (count == 1) return one + (" " + std::to_string(first));
  return many + (" " + std::to_string(first)) + " to " + std::to_string(first + count - 1);
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

std::vector<std::pair<Locality, std::string>> Choices<Locality>::all() {
  return {{Locality::elementwise, "elementwise"}, {Locality::row, "row"}, {Locality::dense, "dense"}};
}

void describe(Fields& f, ChipDescription& c) {
  f.required().integer("input_width", c.input_width, between(1, 1 << 24), "inputs of one query");
  f.required().integer("output_width", c.output_width, between(1, 1 << 24), "outputs of one query");
  f.choice("locality", c.locality, "which outputs an input can reach");
  f.flag("holds_weights", c.holds_weights, "whether weights are programmed before the first query");
  f.object("dac", c.dac, "input converter");
  f.object("adc", c.adc, "output converter");
  f.number("readout_noise", c.readout_noise, at_least(0), "standard deviation of one readout, in output units");
}

PluginBlock::PluginBlock(const std::string& kind, const RawConfig& section, const BlockRequest& request) : kind_(kind) {
  const PluginConfig config = read_plugin(section);
  where_ = config.name() + " (" + kind + ")";
  timeout_s_ = config.timeout_s;
  start_timeout_s_ = config.start_timeout_s;
  const auto links = request.plugins != nullptr ? request.plugins : std::make_shared<PluginLinks>();
  try {
    link_ = links->link(config);
  } catch (const Error& error) {
    throw device_error(where_, error.message());
  }
  if (std::find(link_.blocks.begin(), link_.blocks.end(), kind) == link_.blocks.end()) {
    throw device_error(where_, "offers no block \"" + kind + "\"" + did_you_mean(kind, link_.blocks) + "; it offers " +
                                   (link_.blocks.empty() ? "none" : join_choices(link_.blocks)));
  }
  spec_.name = kind;
  spec_.input_width = request.input_width;
  spec_.output_width = request.output_width;
  spec_.causal_period = request.causal_period;
  const auto known = simulated(kind, request);
  if (known != nullptr) spec_ = known->spec();
  open(config, request);
  if (known == nullptr) spec_.locality = description_.locality;
}

PluginBlock::~PluginBlock() {
  if (chip_ < 0) return;
  try {
    link_.link->call({{{"op", "close"}, {"chip", chip_}}, {}, {}}, timeout_s_);
  } catch (const Error&) {
    // Whoever lost the chip has said so, and there is nothing left to close.
  }
}

void PluginBlock::open(const PluginConfig& config, const BlockRequest& request) {
  ChipCall call;
  call.header = {{"op", "open"},
                 {"kind", kind_},
                 {"input_width", spec_.input_width},
                 {"output_width", spec_.output_width},
                 {"causal_period", spec_.causal_period},
                 {"seed", request.seed},
                 {"threads", at::get_num_threads()},
                 {"options", config.options.value}};
  const Json opened = answer(call, {}, start_timeout_s_);
  const Json chip = opened.value("chip", Json());
  if (!chip.is_number_integer() || chip < 0) throw failed({}, "opened a block without a number: " + opened.dump());
  chip_ = chip.get<std::int64_t>();
  try {
    description_ = read_config<ChipDescription>(opened.value("description", Json()), "its description");
  } catch (const Error& error) {
    throw failed({}, error.what());
  }
  check_widths();
  if (description_.dac.range == RangeSource::calibrated && !link_.offers("ports")) {
    throw failed({}, "its DAC's range is calibrated, and it has no ports() that tells the range");
  }
  book(opened, {}, 0);
}

void PluginBlock::check_widths() const {
  const bool inputs_fit = spec_.input_width == 0 || spec_.input_width == description_.input_width;
  if (inputs_fit && spec_.output_width == description_.output_width) return;
  throw failed({}, "has " + std::to_string(description_.input_width) + " inputs and " +
                       std::to_string(description_.output_width) + " outputs; asked for were " +
                       (spec_.input_width == 0 ? "any" : std::to_string(spec_.input_width)) + " and " +
                       std::to_string(spec_.output_width));
}

Error PluginBlock::failed(const Queries& queries, const std::string& why) const {
  if (queries.rows == 0) return device_error(where_, why);
  return device_error(where_, from_to("query", "queries", asked_, queries.count()) + " (pass " +
                                  std::to_string(queries.slot.step) + ", layer " + std::to_string(queries.slot.block) +
                                  ", " + from_to("row", "rows", queries.slot.first_row, queries.rows) + "): " + why);
}

Json PluginBlock::answer(const ChipCall& call, const Queries& queries, double timeout_s) const {
  Json answer;
  try {
    answer = link_.link->call(call, timeout_s);
  } catch (const Error& error) {
    throw failed(queries, error.message());
  }
  const auto error = answer.find("error");
  if (error != answer.end()) throw failed(queries, error->is_string() ? error->get<std::string>() : error->dump());
  return answer;
}

void PluginBlock::check_count(const Json& answer, std::size_t array, std::int64_t expected, const char* what,
                              const Queries& queries) const {
  const Json written = answer.value("written", Json::array());
  const Json got = array < written.size() ? written[array] : Json(0);
  if (got == expected) return;
  throw failed(queries, std::string("gave ") + got.dump() + " " + what + " where " + std::to_string(expected) +
                            " were asked for");
}

std::int64_t PluginBlock::driven(std::int64_t row, std::int64_t width) const {
  return spec_.causal_period == 0 ? width : row % spec_.causal_period + 1;
}

void PluginBlock::check_values(at::Tensor& values, const char* what, bool causal, const Queries& queries) const {
  const std::int64_t width = values.size(1);
  float* row = values.data_ptr<float>();
  for (std::int64_t r = 0; r < values.size(0); ++r, row += width) {
    const std::int64_t used = causal ? driven(queries.slot.first_row + r, width) : width;
    const float* bad = std::find_if(row, row + used, [](float v) { return !std::isfinite(v); });
    if (bad != row + used) {
      throw device_error(
          where_, from_to("query", "queries", asked_ + r * queries.queries_per_row, queries.queries_per_row) +
                      " (pass " + std::to_string(queries.slot.step) + ", layer " + std::to_string(queries.slot.block) +
                      ", row " + std::to_string(queries.slot.first_row + r) + "): " + what + " " +
                      std::to_string(bad - row) + (std::isnan(*bad) ? " is not a number" : " is infinite"));
    }
    std::fill(row + used, row + width, 0.0F);
  }
}

void PluginBlock::book(const Json& answer, const Queries& queries, double wall_s) {
  asked_ += queries.count();
  const auto totals = answer.find("totals");
  if (totals == answer.end()) {
    meter_.queries += queries.count();
    meter_.busy_s += wall_s;
    clock_s_ = clock_start_s_ + seconds_since(clock_start_);
    return;
  }
  try {
    meter_ = base_;
    meter_ += meter_from_json(*totals);
    clock_s_ = totals->at("clock_s").get<double>();
    temperature_k_ = totals->value("temperature_k", 0.0);
  } catch (const Json::exception& error) {
    throw failed({}, std::string("its totals cannot be read: ") + error.what());
  }
  if (!std::isfinite(clock_s_) || !std::isfinite(meter_.busy_s) || !std::isfinite(meter_.energy.total_j())) {
    throw failed({}, "its totals are not finite: " + totals->dump());
  }
}

at::Tensor PluginBlock::checked(const at::Tensor& tensor, std::int64_t width, const char* what) const {
  if (tensor.dim() != 2 || tensor.size(1) != width || tensor.size(0) == 0) {
    std::ostringstream shape;
    shape << tensor.sizes();
    throw config_error("block " + kind_, std::string(what) + " has shape " + shape.str() + "; expected [rows, " +
                                             std::to_string(width) + "] with at least one row");
  }
  return tensor.detach().to(at::kCPU, at::kFloat).contiguous();
}

void PluginBlock::check_inputs(const at::Tensor& inputs, std::int64_t first_row) const {
  const float* row = inputs.data_ptr<float>();
  for (std::int64_t r = 0; r < inputs.size(0); ++r, row += description_.input_width) {
    const std::int64_t used = driven(first_row + r, description_.input_width);
    const float* bad = std::find_if(row, row + used, [](float v) { return !std::isfinite(v); });
    if (bad == row + used) continue;
    throw numerical_error("block " + kind_, "input " + std::to_string(bad - row) + " of query " +
                                                std::to_string(first_row + r) + " is not finite");
  }
}

Json PluginBlock::slot_header(const char* operation, const QuerySlot& slot, std::int64_t rows) const {
  return {{"op", operation},
          {"chip", chip_},
          {"rows", rows},
          {"step", slot.step},
          {"block", slot.block},
          {"first_row", slot.first_row},
          {"queries_per_row", slot.queries_per_row},
          {"query_in_row", slot.query_in_row},
          {"start_s", slot.start_s}};
}

Readout PluginBlock::query(const QueryBatch& batch) { return ask("query", batch, nullptr); }

Readout PluginBlock::settle(const QueryBatch& batch, const at::Tensor& nudge) {
  if (!link_.offers("settle")) throw device_error(where_, "cannot settle: it is no equilibrium block");
  return ask("settle", batch, &nudge);
}

// `nudge`: null for a plain query.
Readout PluginBlock::ask(const char* operation, const QueryBatch& batch, const at::Tensor* nudge) {
  const at::Tensor inputs = checked(batch.inputs, description_.input_width, "the inputs");
  const std::int64_t rows = inputs.size(0);
  check_inputs(inputs, batch.slot.first_row);
  at::Tensor points;
  if (batch.range_point.defined()) {
    points = checked(batch.range_point, description_.input_width, "the range point");
    if (points.size(0) != rows) throw config_error("block " + kind_, "the range point has other rows than the inputs");
  }
  at::Tensor pull;
  if (nudge != nullptr && nudge->defined()) {
    pull = checked(*nudge, description_.output_width, "the nudge");
    if (pull.size(0) != rows) throw config_error("block " + kind_, "the nudge has other rows than the inputs");
  }
  Readout readout{at::zeros({rows, description_.output_width}, at::kFloat),
                  at::zeros({rows, description_.input_width}, at::kFloat)};
  const Queries queries{batch.slot, rows, 1};
  ChipCall call{slot_header(operation, batch.slot, rows),
                {sent(inputs), sent(points)},
                {wanted(readout.values), wanted(readout.applied)}};
  call.header["range_margin"] = batch.range_margin;
  if (nudge != nullptr) call.sent.push_back(sent(pull));

  const auto start = std::chrono::steady_clock::now();
  const Json said = answer(call, queries, timeout_s_);
  const double wall_s = seconds_since(start);
  check_count(said, 0, readout.values.numel(), "values", queries);
  const Json written = said.value("written", Json::array());
  if (written.size() < 2 || written[1] == 0) {
    readout.applied = applied_by_description(inputs, points.defined() ? points : inputs, batch);
  } else {
    check_count(said, 1, readout.applied.numel(), "applied inputs", queries);
    check_values(readout.applied, "applied input", true, queries);
  }
  check_values(readout.values, "output", true, queries);
  book(said, queries, wall_s);
  return readout;
}

ProbeReadout PluginBlock::probe(const ProbeRequest& request) {
  // The interface's own probe knows one order of a probe's sides.
  if (!link_.offers("probe") || request.order != SideOrder::alternating) return probe_by_queries(*this, request);
  const at::Tensor points = checked(request.point, description_.input_width, "the point");
  const at::Tensor cotangents = checked(request.cotangent, description_.output_width, "the cotangent");
  const std::int64_t rows = points.size(0);
  if (cotangents.size(0) != rows) {
    throw config_error("block " + kind_, "the cotangent has " + std::to_string(cotangents.size(0)) + " rows for " +
                                             std::to_string(rows) + " queried ones");
  }
  check_inputs(points, request.slot.first_row);
  ProbeReadout readout{at::zeros({rows, request.probes}, at::kFloat),
                       at::zeros({rows, description_.input_width}, at::kFloat)};
  const Queries queries{request.slot, rows, 2 * request.probes};
  ChipCall call{slot_header("probe", request.slot, rows),
                {sent(points), sent(cotangents)},
                {wanted(readout.responses), wanted(readout.estimate)}};
  call.header["probes"] = request.probes;
  call.header["amplitude"] = request.amplitude;
  call.header["seed"] = request.seed;
  const auto start = std::chrono::steady_clock::now();
  const Json said = answer(call, queries, timeout_s_);
  const double wall_s = seconds_since(start);
  check_count(said, 0, readout.responses.numel(), "responses", queries);
  check_count(said, 1, readout.estimate.numel(), "estimates", queries);
  check_values(readout.responses, "response", false, queries);
  check_values(readout.estimate, "estimate", true, queries);
  book(said, queries, wall_s);
  return readout;
}

void PluginBlock::program(const at::Tensor& weights) {
  if (!description_.holds_weights || !link_.offers("program")) return PhysicalBlock::program(weights);
  const at::Tensor values = checked(weights, description_.input_width, "the weight matrix");
  if (values.size(0) != description_.output_width) {
    throw config_error("block " + kind_, "the weight matrix has " + std::to_string(values.size(0)) + " rows for " +
                                             std::to_string(description_.output_width) + " outputs");
  }
  ChipCall call{{{"op", "program"},
                 {"chip", chip_},
                 {"outputs", description_.output_width},
                 {"inputs", description_.input_width}},
                {sent(values)},
                {}};
  const auto start = std::chrono::steady_clock::now();
  const Json said = answer(call, {}, start_timeout_s_);
  book(said, {}, seconds_since(start));
}

Quantiser PluginBlock::dac_at(const float* point, std::int64_t row, double margin) const {
  const ConverterConfig& dac = description_.dac;
  if (dac.range == RangeSource::fixed) return resolve(dac, dac.full_scale);
  const float largest = row_kernels().extent(driven(row, description_.input_width), point).largest_magnitude;
  return resolve(dac, (largest + margin) * dac.headroom);
}

at::Tensor PluginBlock::applied_by_description(const at::Tensor& inputs, const at::Tensor& points,
                                               const QueryBatch& batch) const {
  at::Tensor applied = at::zeros_like(inputs);
  const std::int64_t width = description_.input_width;
  for (std::int64_t r = 0; r < inputs.size(0); ++r) {
    const std::int64_t row = batch.slot.first_row + r;
    const Quantiser dac = dac_at(points.data_ptr<float>() + r * width, row, batch.range_margin);
    const float* in = inputs.data_ptr<float>() + r * width;
    std::transform(in, in + driven(row, width), applied.data_ptr<float>() + r * width,
                   [&dac](float value) { return convert(dac, value); });
  }
  return applied;
}

// One of the two figures of ports(), [rows].
at::Tensor PluginBlock::port_figure(std::size_t which, const at::Tensor& range_point, double margin,
                                    std::int64_t first_row) const {
  const at::Tensor points = checked(range_point, description_.input_width, "the range point");
  check_inputs(points, first_row);
  const std::int64_t rows = points.size(0);
  at::Tensor steps = at::zeros({rows}, at::kFloat);
  at::Tensor noise = at::zeros({rows}, at::kFloat);
  ChipCall call{{{"op", "ports"}, {"chip", chip_}, {"rows", rows}, {"first_row", first_row}, {"range_margin", margin}},
                {sent(points)},
                {wanted(steps), wanted(noise)}};
  const Json said = answer(call, {}, timeout_s_);
  at::Tensor& figure = which == 0 ? steps : noise;
  const char* what = which == 0 ? "DAC steps" : "readout noises";
  check_count(said, which, rows, what, {});
  if (!figure.isfinite().all().item<bool>() || figure.lt(0).any().item<bool>()) {
    throw failed({}, std::string("gave ") + what + " that are negative or not finite");
  }
  return figure;
}

at::Tensor PluginBlock::dac_step(const at::Tensor& range_point, double range_margin, std::int64_t first_row) const {
  if (link_.offers("ports")) return port_figure(0, range_point, range_margin, first_row);
  const at::Tensor points = checked(range_point, description_.input_width, "the range point");
  at::Tensor steps = at::empty({points.size(0)}, at::kFloat);
  for (std::int64_t r = 0; r < points.size(0); ++r) {
    const float* point = points.data_ptr<float>() + r * description_.input_width;
    steps.data_ptr<float>()[r] = dac_at(point, first_row + r, range_margin).step;
  }
  return steps;
}

at::Tensor PluginBlock::readout_noise(const at::Tensor& range_point, double range_margin, std::int64_t first_row) {
  if (link_.offers("ports")) return port_figure(1, range_point, range_margin, first_row);
  return at::full({range_point.size(0)}, description_.readout_noise, at::kFloat);
}

void PluginBlock::resume_at(double clock_s, const Meter& meter) {
  asked_ = meter.queries;
  if (link_.offers("resume") && link_.offers("totals")) {
    Json totals = meter_to_json(meter);
    totals["clock_s"] = clock_s;
    book(answer({{{"op", "resume"}, {"chip", chip_}, {"totals", totals}}, {}, {}}, {}, timeout_s_), {}, 0);
    return;
  }
  base_ = meter;
  meter_ = meter;
  clock_s_ = clock_start_s_ = clock_s;
  clock_start_ = std::chrono::steady_clock::now();
}

}  // namespace zbphw
