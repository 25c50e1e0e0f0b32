// `zbphw simulate`: puts a device on the bench. Programs a crossbar (or takes an activation block), sends queries, and
// says how exact, how fast and how costly the answers are, and what makes them inexact.
#include <ATen/ATen.h>

#include <cmath>
#include <filesystem>
#include <sstream>

#include "base/atomic_file.hpp"
#include "base/config_kind.hpp"
#include "base/npy.hpp"
#include "base/progress.hpp"
#include "base/random.hpp"
#include "experiments/command.hpp"
#include "experiments/run_directory.hpp"
#include "experiments/simulation/comparison.hpp"
#include "experiments/simulation/simulation.hpp"
#include "experiments/simulation/timeline.hpp"
#include "hw/block_registry.hpp"
#include "hw/plugin/plugin_config.hpp"

namespace zbphw {
namespace {

constexpr std::int64_t default_queries = 1000;
constexpr std::int64_t default_size = 256;
constexpr std::int64_t default_block_width = 64;
constexpr std::size_t timeline_queries = 5;

struct MatrixSize {
  std::int64_t rows = 0;     // inputs
  std::int64_t columns = 0;  // outputs
};

std::int64_t whole_number(const std::string& text, const std::string& option, const std::string& whole) {
  std::size_t used = 0;
  std::int64_t value = 0;
  try {
    value = std::stoll(text, &used);
  } catch (const std::exception&) {
    used = 0;
  }
  if (text.empty() || used != text.size() || value < 1 || value > (1 << 20)) {
    throw usage_error(option + ": got '" + whole + "'; allowed: ROWSxCOLUMNS, both from 1 to 1048576");
  }
  return value;
}

std::optional<MatrixSize> size_of(const Invocation& invocation) {
  const auto text = invocation.find<std::string>("size");
  if (!text) return std::nullopt;
  const std::size_t cross = text->find('x');
  if (cross == std::string::npos) {
    throw usage_error("--size: got '" + *text + "'; allowed: ROWSxCOLUMNS, as in 256x128");
  }
  return MatrixSize{whole_number(text->substr(0, cross), "--size", *text),
                    whole_number(text->substr(cross + 1), "--size", *text)};
}

std::vector<double> times_of(const Invocation& invocation, const SimulationSubject& subject) {
  const auto text = invocation.find<std::string>("at-s");
  if (!text) return subject.drift_times_s();
  std::vector<double> times;
  std::istringstream list(*text);
  for (std::string item; std::getline(list, item, ',');) {
    std::size_t used = 0;
    double t_s = 0;
    try {
      t_s = std::stod(item, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    if (item.empty() || used != item.size() || !std::isfinite(t_s)) {
      throw usage_error("--at-s: got '" + *text + "'; allowed: times in seconds, as in 1,3600,86400");
    }
    subject.check_time(t_s);
    times.push_back(t_s);
  }
  if (times.empty()) throw usage_error("--at-s: got nothing; allowed: times in seconds, as in 1,3600,86400");
  return times;
}

at::Tensor normal_matrix(std::int64_t rows, std::int64_t columns, double scale, const RandomAt& random) {
  at::Tensor matrix = at::empty({rows, columns}, at::kFloat);
  float* out = matrix.data_ptr<float>();
  for (std::int64_t r = 0; r < rows; ++r) {
    const RandomAt at = random.with_query(static_cast<std::uint32_t>(r));
    for (std::int64_t c = 0; c < columns; ++c) {
      out[r * columns + c] = static_cast<float>(scale * at.normal(static_cast<std::uint32_t>(c)));
    }
  }
  return matrix;
}

// A finite matrix with rows and columns. `expected` as require_shape() takes it.
at::Tensor matrix_from(const std::string& path, const NpyShape& expected) {
  const NpyArray<float> array = read_npy<float>(path);
  require_shape(path, array.shape, expected);
  if (array.values.empty()) throw data_error(path, "has shape " + shape_text(array.shape) + ", without any element");
  const std::int64_t columns = array.shape[1];
  for (std::size_t k = 0; k < array.values.size(); ++k) {
    if (std::isfinite(array.values[k])) continue;
    const auto at = static_cast<std::int64_t>(k);
    throw data_error(path, "element " + shape_text({at / columns, at % columns}) + " is " +
                               (std::isnan(array.values[k]) ? "not a number" : "infinite in single precision"));
  }
  return at::tensor(array.values, at::kFloat).reshape(array.shape);
}

at::Tensor weights_of(const Invocation& invocation, std::int64_t size_without_option = default_size) {
  const std::optional<MatrixSize> size = size_of(invocation);
  if (const auto path = invocation.find<std::string>("weights")) {
    return matrix_from(*path, size ? NpyShape{size->columns, size->rows} : NpyShape{-1, -1});
  }
  const MatrixSize shape = size.value_or(MatrixSize{size_without_option, size_without_option});
  return normal_matrix(shape.columns, shape.rows, 1 / std::sqrt(static_cast<double>(shape.rows)),
                       {invocation.seed(), stream_id("simulate weights")});
}

at::Tensor inputs_of(const Invocation& invocation, std::int64_t width) {
  const auto queries = invocation.find<std::int64_t>("queries");
  if (queries.value_or(1) < 1) {
    throw usage_error("--queries: got " + std::to_string(*queries) + "; allowed: at least 1");
  }
  if (const auto path = invocation.find<std::string>("inputs"))
    return matrix_from(*path, {queries.value_or(-1), width});
  return normal_matrix(queries.value_or(default_queries), width, 1, {invocation.seed(), stream_id("simulate inputs")});
}

// A block on a plugin. Of one that we do not simulate only the plugin knows whether it holds weights, so it is offered
// some.
std::unique_ptr<SimulationSubject> attached_subject(const Invocation& invocation, const DeviceConfig& device,
                                                    const std::string& block, std::int64_t width) {
  for (const char* option : {"vcd", "timeline"}) {
    if (invocation.has(option))
      throw usage_error(std::string("--") + option + ": what happens inside a plugin is not known");
  }
  const at::Tensor weights = computes_known_function(block) ? at::Tensor() : weights_of(invocation);
  return plugin_subject(device, block, weights, weights.defined() ? weights.size(0) : width, invocation.seed());
}

// The crossbar, or the block that --block names, or a device's only kind of thing.
std::unique_ptr<SimulationSubject> subject_of(const Invocation& invocation, const DeviceConfig& device) {
  const auto block = invocation.find<std::string>("block");
  if (!block && device.crossbar) return crossbar_subject(device, weights_of(invocation), invocation.seed());
  if (device.blocks.value.empty() && !block) {
    throw config_error(device.blocks.where, "the device has neither a crossbar nor a block to simulate");
  }
  const std::optional<MatrixSize> size = size_of(invocation);
  const std::int64_t width = size ? size->columns : default_block_width;
  const std::string name = block.value_or(device.blocks.value.begin().key());
  const bool is_attached = names_plugin(device.block(name).value);
  if (name == "photonic_linear" && !is_attached) {
    return photonic_subject(device, weights_of(invocation, default_block_width), invocation.seed());
  }
  if (invocation.has("weights") && (computes_known_function(name) || !is_attached)) {
    throw usage_error("--weights: an activation block holds none; allowed: with a crossbar");
  }
  const auto simulated_subject = [&] {
    return name == "equilibrium" ? equilibrium_subject(device, width, invocation.seed())
                                 : block_subject(device, name, width, invocation.seed());
  };
  auto subject = is_attached ? attached_subject(invocation, device, name, width) : simulated_subject();
  if (size && size->rows != subject->inputs()) {
    throw usage_error("--size: got " + std::to_string(size->rows) + "x" + std::to_string(size->columns) + "; block " +
                      subject->block_name() + " with " + std::to_string(width) + " outputs has " +
                      std::to_string(subject->inputs()) + " inputs");
  }
  return subject;
}

// One device with what it is asked.
struct Bench {
  DeviceConfig device;
  std::unique_ptr<SimulationSubject> subject;
  SimulationPlan plan;

  std::int64_t steps() const { return count_steps(*subject, plan); }
};

Json effective_config(const Invocation& invocation, const Bench& bench) {
  const auto path_or_null = [&invocation](const char* option) {
    const auto path = invocation.find<std::string>(option);
    return path ? Json(*path) : Json();
  };
  return {{"command", "simulate"},
          {"seed", invocation.seed()},
          {"device", write_config(bench.device)},
          {"block", bench.subject->block_name()},
          {"rows", bench.subject->inputs()},
          {"columns", bench.subject->outputs()},
          {"queries", bench.plan.inputs.size(0)},
          {"weights", path_or_null("weights")},
          {"inputs", path_or_null("inputs")},
          {"at_s", bench.plan.at_s}};
}

// A trace is never overwritten in place: one of an earlier run of the same configuration is replaced when the new one
// is whole.
std::string write_trace(const Invocation& invocation, const RunDirectory& run, const Bench& bench,
                        const SimulationResult& result) {
  const TraceInfo info{invocation.seed(), write_config(bench.device).dump(),
                       invocation.get<std::int64_t>("trace-every")};
  if (const auto path = invocation.find<std::string>("trace")) {
    write_simulation_trace(*path, info, *bench.subject, bench.plan, result);
    return *path;
  }
  const std::string path = run.file("trace.h5");
  const std::string fresh = std::filesystem::exists(path) ? run.file("trace.new.h5") : path;
  std::filesystem::remove(run.file("trace.new.h5"));
  write_simulation_trace(fresh, info, *bench.subject, bench.plan, result);
  if (fresh != path) std::filesystem::rename(fresh, path);
  return path;
}

// Refuses at once what the trace would be refused for after the simulation.
void check_trace_path(const Invocation& invocation) {
  namespace fs = std::filesystem;
  const auto path = invocation.find<std::string>("trace");
  if (const auto every = invocation.get<std::int64_t>("trace-every"); every < 1) {
    throw usage_error("--trace-every: got " + std::to_string(every) + "; allowed: at least 1");
  }
  if (!path) return;
  if (path->empty()) throw usage_error("--trace: got nothing; allowed: the name of a new HDF5 file");
  if (fs::is_directory(*path)) throw data_error(*path, "is a directory; allowed: the name of a new HDF5 file");
  const fs::path parent = fs::path(*path).parent_path();
  if (!parent.empty() && !fs::is_directory(parent)) throw data_error(*path, "its directory does not exist");
  if (fs::exists(*path)) {
    throw data_error(*path, "exists; a trace is never overwritten: choose another name or move the file away");
  }
}

Bench set_up(const Invocation& invocation, const std::string& device) {
  Bench bench;
  bench.device = load_device(device, invocation.common.overrides);
  bench.subject = subject_of(invocation, bench.device);
  bench.plan.inputs = inputs_of(invocation, bench.subject->inputs());
  bench.plan.at_s = times_of(invocation, *bench.subject);
  bench.plan.vcd_path = invocation.find<std::string>("vcd").value_or("");
  return bench;
}

SimulationResult run_bench(const Invocation& invocation, Bench& bench) {
  Progress progress("simulate " + bench.device.name, bench.steps(), invocation.common.quiet);
  SimulationResult result =
      run_simulation(*bench.subject, bench.plan,
                     [&progress](std::int64_t done, const std::string& note) { progress.update(done, note); });
  progress.clear();
  return result;
}

Json bench_json(const Bench& bench, const SimulationResult& result) {
  Json json = {{"device", bench.device.name}};
  json.update(simulation_json(*bench.subject, result));
  return json;
}

CommandResult simulate_one(const Invocation& invocation) {
  check_trace_path(invocation);
  Bench bench = set_up(invocation, invocation.get<std::string>("device"));
  const RunDirectory run(invocation.out_directory(bench.device.name), effective_config(invocation, bench),
                         invocation.common.force);
  const SimulationResult result = run_bench(invocation, bench);
  CommandResult answer;
  const std::string trace = write_trace(invocation, run, bench, result);
  answer.out = run.path();
  answer.files = {trace};
  if (!bench.plan.vcd_path.empty()) {
    answer.files.push_back(bench.plan.vcd_path);
    answer.files.push_back(std::filesystem::path(bench.plan.vcd_path).replace_extension(".gtkw").string());
    write_file_atomically(answer.files.back(), gtkwave_save_file(bench.plan.vcd_path));
  }
  if (const auto path = invocation.find<std::string>("timeline")) {
    const std::string heading = bench.device.name + ", " + bench.subject->block_name() + ": the first queries";
    write_file_atomically(*path, timeline_svg(heading, *bench.subject->timing(), result.served, timeline_queries));
    answer.files.push_back(*path);
  }
  answer.values = bench_json(bench, result);
  answer.values["trace"] = trace;
  std::ostringstream title;
  title << bench.device.name << ": " << bench.subject->block_name() << ", " << bench.subject->inputs() << " inputs x "
        << bench.subject->outputs() << " outputs, " << bench.plan.inputs.size(0) << " queries, seed "
        << invocation.seed() << "\n";
  if (!bench.device.description.empty()) title << bench.device.description << "\n";
  answer.text = title.str() + simulation_text(*bench.subject, result);
  return answer;
}

CommandResult compare(const Invocation& invocation) {
  const auto devices = invocation.get<std::vector<std::string>>("compare");
  if (devices.size() != 2) {
    throw usage_error("--compare: got " + std::to_string(devices.size()) + " devices; allowed: two");
  }
  for (const char* option : {"device", "vcd", "timeline", "trace"}) {
    if (invocation.has(option)) throw usage_error(std::string("--") + option + ": allowed without --compare only");
  }
  std::vector<Bench> benches;
  Json configs = Json::array();
  for (const std::string& device : devices) {
    benches.push_back(set_up(invocation, device));
    configs.push_back(effective_config(invocation, benches.back()));
  }
  const std::string name = benches[0].device.name + "-and-" + benches[1].device.name;
  const RunDirectory run(invocation.out_directory(name), {{"compare", configs}}, invocation.common.force);
  std::vector<Json> results;
  results.reserve(benches.size());
  for (Bench& bench : benches) results.push_back(bench_json(bench, run_bench(invocation, bench)));
  CommandResult answer;
  answer.out = run.path();
  answer.values["compare"] = results;
  answer.text = comparison_text(results);
  return answer;
}

CommandResult simulate(const Invocation& invocation) {
  if (invocation.has("compare")) return compare(invocation);
  if (!invocation.has("device")) throw usage_error("--device FILE or --compare A B is needed");
  return simulate_one(invocation);
}

Command simulate_command() {
  Command command;
  command.summary = "put a device on the bench: accuracy, its causes, drift, latency and energy";
  command.examples = {"zbphw simulate --device configs/devices/pcm_crossbar.json",
                      "zbphw simulate --device rram_crossbar --size 512x128 --queries 5000 --at-s 1,3600,86400 --json",
                      "zbphw simulate --device pcm_crossbar --weights W.npy --inputs X.npy --set crossbar.adc.bits=6",
                      "zbphw simulate --compare pcm_crossbar rram_crossbar --size 128x128",
                      "zbphw simulate --device analog_softmax --size 64x64 --vcd chip.vcd --timeline chip.svg"};
  // clang-format off
  command.options.add_options()
    ("device", option_value<std::string>("FILE"), "the device's configuration, or the name of a shipped one")
    ("compare", option_value<std::vector<std::string>>("A B")->multitoken(), "put two devices side by side")
    ("block", option_value<std::string>("NAME"), "simulate this activation block instead of the crossbar")
    ("size", option_value<std::string>("RxC"), "inputs (rows) x outputs (columns); default 256x256, of a mesh 64x64, 64 "
                                          "outputs of a block")
    ("queries", option_value<std::int64_t>("N"), "how many queries; default 1000, or the rows of --inputs")
    ("weights", option_value<std::string>("W.npy"), "matrix [outputs, inputs]; default: random normal")
    ("inputs", option_value<std::string>("X.npy"), "queries [queries, inputs]; default: random normal")
    ("at-s", option_value<std::string>("T,..."), "times since programming (or calibration) to show the drift at")
    ("vcd", option_value<std::string>("F.vcd"), "write the chip's signals for GTKWave")
    ("timeline", option_value<std::string>("F.svg"), "draw which unit works on which of the first queries, and when")
    ("trace", option_value<std::string>("F.h5"), "where to write the trace; default: trace.h5 in the run directory")
    ("trace-every", option_value<std::int64_t>("N")->default_value(1), "keep every N-th query in the trace only");
  // clang-format on
  command.run = simulate;
  return command;
}

const Registration<CommandFactory> registered("simulate", simulate_command);

}  // namespace
}  // namespace zbphw
