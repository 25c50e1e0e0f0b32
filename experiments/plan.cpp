#include "experiments/plan.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "base/error.hpp"
#include "base/progress.hpp"
#include "experiments/figures.hpp"
#include "training/trainer.hpp"

namespace zbphw {
namespace {

// The first update also warms the caches and is audited; the median of five is an ordinary one.
constexpr std::int64_t calibration_updates = 5;

// A directory of its own that is gone with the object.
class TemporaryDirectory {
 public:
  TemporaryDirectory() {
    std::string pattern = (std::filesystem::temp_directory_path() / "zbphw-plan-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) {
      throw data_error(pattern, std::string("cannot be created: ") + std::strerror(errno));
    }
    path_ = pattern;
  }
  ~TemporaryDirectory() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

std::int64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{1024} * usage.ru_maxrss;
}

// Times that something due every so many updates, and after the last, happens.
std::int64_t times_due(std::int64_t updates, std::int64_t every) { return (updates + every - 1) / every; }

}  // namespace

TrainPlan measure_plan(const TrainConfig& config, const Dataset& data, NonlinearCores& cores) {
  TrainPlan plan;
  plan.parameters = parameter_count(config.model);
  plan.tokens = config.budget_tokens;
  plan.updates = config.total_steps();
  plan.validations = 1 + times_due(plan.updates, config.validation.every_steps);
  plan.checkpoints = times_due(plan.updates, config.checkpoint.every_steps);
  plan.passes_over_data = static_cast<double>(plan.tokens) / static_cast<double>(data.train->size());

  TrainConfig short_run = config;
  const std::int64_t updates = std::min(calibration_updates, plan.updates);
  short_run.budget_tokens = std::min(config.budget_tokens, updates * config.tokens_per_update());
  short_run.validation.every_steps = updates;
  short_run.checkpoint.every_steps = updates;
  const TemporaryDirectory directory;
  TrainerOptions options;
  options.directory = directory.path();
  double first_validation_s = 0;
  const auto start = std::chrono::steady_clock::now();
  options.on_step = [&](const TrainProgress& progress) {
    const std::chrono::duration<double> so_far = std::chrono::steady_clock::now() - start;
    if (progress.step == 0) first_validation_s = so_far.count();
  };
  const TrainSummary summary = Trainer(short_run, data, cores, options).run();
  plan.update_s = summary.step_ms / 1000;
  plan.validation_s = first_validation_s;
  plan.peak_memory = peak_memory_bytes();
  return plan;
}

Json to_json(const TrainPlan& plan) {
  return {{"parameters", plan.parameters},   {"tokens", plan.tokens},
          {"updates", plan.updates},         {"validations", plan.validations},
          {"checkpoints", plan.checkpoints}, {"passes_over_data", plan.passes_over_data},
          {"update_s", plan.update_s},       {"validation_s", plan.validation_s},
          {"total_s", plan.total_s()},       {"peak_memory_bytes", plan.peak_memory}};
}

std::string plan_text(const std::string& directory, const TrainConfig& config, const TrainPlan& plan) {
  std::ostringstream out;
  out << "a run in " << directory << " would train " << grouped(plan.parameters) << " parameters on "
      << grouped(plan.tokens) << " tokens (" << three_digits(plan.passes_over_data) << " passes over the data)\n"
      << "  updates       " << grouped(plan.updates) << " of " << grouped(config.batch.sequences) << " x "
      << grouped(config.model.context_tokens) << " tokens\n"
      << "  validations   " << grouped(plan.validations) << ", checkpoints " << grouped(plan.checkpoints) << "\n"
      << "  measured      " << three_digits(1000 * plan.update_s) << " ms an update, "
      << grouped(std::llround(static_cast<double>(config.tokens_per_update()) / plan.update_s)) << " tokens/s, "
      << three_digits(plan.validation_s) << " s a validation\n"
      << "  peak memory   " << bytes_text(plan.peak_memory) << "\n"
      << "  time          about " << duration_text(plan.total_s()) << ", without checkpoints\n"
      << "nothing was written\n";
  return out.str();
}

}  // namespace zbphw
