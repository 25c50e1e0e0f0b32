#include "training/trainer.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/equal.h>
#include <c10/core/GradMode.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "reference_model.hpp"
#include "scratch_directory.hpp"
#include "training/checkpoint.hpp"
#include "training/cores_factory.hpp"
#include "training/physical_cores.hpp"

using Catch::Contains;
using zbphw::Dataset;
using zbphw::DigitalCores;
using zbphw::Error;
using zbphw::Json;
using zbphw::TrainConfig;
using zbphw::Trainer;
using zbphw::TrainerOptions;

namespace {

std::string sentence(int times) {
  std::string text;
  for (int i = 0; i < times; ++i) text += "the cat sat on the mat; ";
  return text;
}

TrainConfig tiny(const ScratchDirectory& scratch) {
  TrainConfig c;
  c.data.path = scratch.file("text.txt", sentence(40));
  c.data.validation_tokens = 50;
  c.model.layers = 2;
  c.model.width = 16;
  c.model.heads = 2;
  c.model.ffn_multiple_of = 8;
  c.model.context_tokens = 12;
  c.batch.sequences = 4;
  c.batch.sequences_per_pass = 4;
  c.budget_tokens = 10 * 48;
  c.optimizer.adamw.learning_rate = 0.02;
  c.schedule.warmup_steps = 2;
  c.validation.every_steps = 4;
  c.checkpoint.every_steps = 3;
  return c;
}

// A run of `config` in <scratch>/<name>, with everything that must outlive it.
struct Run {
  Run(const ScratchDirectory& scratch, const std::string& name, const TrainConfig& config,
      std::unique_ptr<zbphw::NonlinearCores> own_cores = std::make_unique<DigitalCores>())
      : directory(scratch.path(name)),
        data(zbphw::load_dataset(config.data, config.model.context_tokens)),
        cores(std::move(own_cores)) {
    std::filesystem::create_directories(directory);
    options.directory = directory;
    options.on_message = [this](const std::string& message) { messages += message + "\n"; };
    options.stop_requested = [] { return false; };
    this->config = config;
  }

  zbphw::TrainSummary train() {
    trainer = std::make_unique<Trainer>(config, data, *cores, options);
    return trainer->run();
  }

  std::vector<at::Tensor> weights() const {
    std::vector<at::Tensor> all;
    for (const zbphw::NamedParameter& p : trainer->model().parameters()) all.push_back(p.tensor.detach());
    return all;
  }

  // The log without the measured times.
  std::vector<Json> log() const {
    std::vector<Json> lines;
    std::istringstream in(file_text(directory + "/log.jsonl"));
    for (std::string line; std::getline(in, line);) {
      lines.push_back(Json::parse(line));
      lines.back().erase("time_s");
    }
    return lines;
  }

  std::string directory;
  Dataset data;
  std::unique_ptr<zbphw::NonlinearCores> cores;
  TrainConfig config;
  TrainerOptions options;
  std::string messages;
  std::unique_ptr<Trainer> trainer;
};

bool same(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [](auto& x, auto& y) { return at::equal(x, y); });
}

double largest_difference(const std::vector<at::Tensor>& a, const std::vector<at::Tensor>& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, (a[i] - b[i]).abs().max().item<double>());
  return worst;
}

struct Killed {};

// Ends the process, as far as the trainer can tell, after some update.
void kill_after(Run& run, std::int64_t step) {
  run.options.on_step = [step](const zbphw::TrainProgress& progress) {
    if (progress.step == step) throw Killed();
  };
}

// Gives NaN in chosen training passes.
class FailingCores : public DigitalCores {
 public:
  explicit FailingCores(std::vector<std::int64_t> steps) : steps_(std::move(steps)) {}
  void begin_pass(const zbphw::Pass& pass) override {
    failing_ = pass.phase == zbphw::Phase::train && std::count(steps_.begin(), steps_.end(), pass.step) > 0;
  }
  at::Tensor swiglu(const at::Tensor& gate, const at::Tensor& up, std::int64_t layer) override {
    const at::Tensor hidden = DigitalCores::swiglu(gate, up, layer);
    return failing_ ? hidden * std::numeric_limits<double>::quiet_NaN() : hidden;
  }

 private:
  std::vector<std::int64_t> steps_;
  bool failing_ = false;
};

// Counts passes and keeps the count across a resume.
class CountingCores : public DigitalCores {
 public:
  void begin_pass(const zbphw::Pass&) override { ++passes; }
  Json state() const override { return {{"passes", passes}}; }
  void restore(const Json& state) override { passes = state.at("passes").get<std::int64_t>(); }
  std::int64_t passes = 0;
};

}  // namespace

TEST_CASE("a small model learns a repeated sentence far beyond its letter frequencies") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  config.budget_tokens = 150 * 48;
  Run run(scratch, "run", config);
  const zbphw::TrainSummary summary = run.train();
  CHECK(summary.steps == 150);
  CHECK(summary.tokens == 150 * 48);
  CHECK(summary.ln_vocab == Approx(std::log(11.0)));  // 11 different characters
  CHECK(summary.losses.at("validation_initial").get<double>() > summary.unigram_entropy);
  CHECK(summary.losses.at("validation_final").get<double>() < 0.5 * summary.unigram_entropy);
}

TEST_CASE("the validation loss is the mean over the span, and the first training loss that of the first batch") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  config.batch.sequences_per_pass = 3;
  Run run(scratch, "run", config);
  run.train();

  config.model.vocab = run.data.tokenizer.vocab();
  const reference::PlainModel untrained(zbphw::Model(config.model, 1));
  const auto row_of = [](const at::Tensor& tokens, std::int64_t row) {
    const at::Tensor flat = tokens[row].contiguous();
    return std::vector<std::int64_t>(flat.data_ptr<std::int64_t>(), flat.data_ptr<std::int64_t>() + flat.numel());
  };
  const zbphw::ValidationBatches validation(run.data.validation, 12, 1, 1000);
  REQUIRE(validation.count() == 4);
  double expected = 0;
  for (std::int64_t i = 0; i < 4; ++i) {
    expected += untrained.loss(row_of(validation.at(i).tokens, 0), row_of(validation.at(i).targets, 0)) / 4;
  }
  CHECK(run.log().at(1).at("loss").get<double>() == Approx(expected).epsilon(1e-5));

  const zbphw::Batch batch = zbphw::TrainBatches(run.data.train, 12, 1).rows(0, 0, 4);
  expected = 0;
  for (std::int64_t i = 0; i < 4; ++i)
    expected += untrained.loss(row_of(batch.tokens, i), row_of(batch.targets, i)) / 4;
  CHECK(run.log().at(2).at("loss").get<double>() == Approx(expected).epsilon(1e-5));
}

TEST_CASE("the log tells every event in its order") {
  const ScratchDirectory scratch;
  Run run(scratch, "run", tiny(scratch));
  run.options.header = {{"commit", "abc"}};
  run.train();
  std::string events;
  for (const Json& line : run.log()) {
    events += line.at("event").get<std::string>().substr(0, 1) + line.at("step").dump() + " ";
    CHECK(line.at("tokens").get<std::int64_t>() == 48 * line.at("step").get<std::int64_t>());
  }
  CHECK(events == "h0 v0 t1 t2 t3 c3 t4 v4 t5 t6 c6 t7 t8 v8 t9 c9 t10 v10 d10 c10 ");
  const Json header = run.log().front();
  CHECK(header.at("commit") == "abc");
  CHECK(header.at("parameters") == zbphw::parameter_count(run.trainer->config().model));
  CHECK(header.at("config").at("model").at("vocab") == 11);
  CHECK(run.log().at(2).at("lr").get<double>() == Approx(0.01));  // half of the peak: update 1 of 2 warming up
}

TEST_CASE("killed after any update and started again, a run ends with the same weights and log") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  if (GENERATE(false, true)) config.optimizer.muon.emplace();
  Run whole(scratch, "whole", config);
  whole.train();
  for (const std::int64_t step : {1, 2, 3, 5, 8, 9, 10}) {
    INFO("killed after update " << step);
    const std::string name = "killed" + std::to_string(step);
    Run first(scratch, name, config);
    kill_after(first, step);
    CHECK_THROWS_AS(first.train(), Killed);
    Run second(scratch, name, config);
    const zbphw::TrainSummary summary = second.train();
    CHECK(same(second.weights(), whole.weights()));
    CHECK(second.log() == whole.log());
    CHECK(summary.losses == whole.trainer->run().losses);
  }
}

TEST_CASE("a finished run is not trained further") {
  const ScratchDirectory scratch;
  Run first(scratch, "run", tiny(scratch)), second(scratch, "run", tiny(scratch));
  const zbphw::TrainSummary summary = first.train();
  CHECK(second.train().losses == summary.losses);
  CHECK(second.log() == first.log());
  CHECK(same(second.weights(), first.weights()));
}

TEST_CASE("the cores' own state is resumed") {
  const ScratchDirectory scratch;
  Run whole(scratch, "whole", tiny(scratch), std::make_unique<CountingCores>());
  whole.train();
  Run first(scratch, "run", tiny(scratch), std::make_unique<CountingCores>());
  kill_after(first, 8);
  CHECK_THROWS_AS(first.train(), Killed);
  Run second(scratch, "run", tiny(scratch), std::make_unique<CountingCores>());
  second.train();
  const auto passes = [](const Run& run) { return dynamic_cast<const CountingCores&>(*run.cores).passes; };
  CHECK(passes(whole) == 10 + 4 * 1);  // ten updates and four validations of one pass each
  CHECK(passes(second) == passes(whole));
}

TEST_CASE("a damaged newest checkpoint is told and the one before it used") {
  const ScratchDirectory scratch;
  Run whole(scratch, "whole", tiny(scratch)), first(scratch, "run", tiny(scratch)),
      second(scratch, "run", tiny(scratch));
  whole.train();
  kill_after(first, 8);
  CHECK_THROWS_AS(first.train(), Killed);
  const std::string file = first.directory + "/checkpoints/step_000000006/model.safetensors";
  std::filesystem::resize_file(file, 100);
  second.train();
  CHECK_THAT(second.messages,
             Contains("step_000000006/model.safetensors") && Contains("using the checkpoint before it"));
  CHECK_THAT(second.messages, Contains("continues after update 3"));
  CHECK(same(second.weights(), whole.weights()));
  CHECK(second.log() == whole.log());
}

TEST_CASE("asked to stop, a run saves, says so, and continues later to the same weights") {
  const ScratchDirectory scratch;
  Run whole(scratch, "whole", tiny(scratch)), first(scratch, "run", tiny(scratch)),
      second(scratch, "run", tiny(scratch));
  whole.train();
  int asked = 0;
  first.options.stop_requested = [&asked] { return ++asked == 5; };
  try {
    first.train();
    FAIL("not interrupted");
  } catch (const Error& error) {
    CHECK(error.kind() == zbphw::ErrorKind::interrupted);
    CHECK_THAT(error.what(), Contains("after update 5 of 10"));
  }
  CHECK_THAT(zbphw::committed_checkpoints(first.directory + "/checkpoints").front(), Contains("step_000000005"));
  second.train();
  CHECK(same(second.weights(), whole.weights()));
}

TEST_CASE("passes of any size give the same update") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  config.budget_tokens = 2 * 48;
  Run whole(scratch, "whole", config);
  whole.train();
  for (const std::int64_t size : {1, 3}) {
    config.batch.sequences_per_pass = size;
    Run parts(scratch, "parts" + std::to_string(size), config);
    parts.train();
    // AdamW divides by the gradient's size, so float rounding in tiny gradients shows up to about a percent of a step.
    CHECK(largest_difference(parts.weights(), whole.weights()) < 2e-4);
    CHECK(parts.log().at(2).at("loss").get<double>() ==
          Approx(whole.log().at(2).at("loss").get<double>()).epsilon(1e-6));
    CHECK(parts.log().at(2).at("grad_norm").get<double>() ==
          Approx(whole.log().at(2).at("grad_norm").get<double>()).epsilon(1e-5));
  }
}

TEST_CASE("the last update takes exactly what is left of the budget") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  config.budget_tokens = 48 + 17;
  config.batch.sequences_per_pass = GENERATE(1, 3, 4);
  config.optimizer.adamw.learning_rate = 1e-12;  // the model stays as it is
  Run run(scratch, "run", config);
  const zbphw::TrainSummary summary = run.train();
  CHECK(summary.steps == 2);
  CHECK(summary.tokens == 65);
  // One row of 12 tokens and five of the next.
  config.model.vocab = run.data.tokenizer.vocab();
  const reference::PlainModel model(zbphw::Model(config.model, 1));
  const zbphw::Batch batch = zbphw::TrainBatches(run.data.train, 12, 1).rows(1, 0, 4);
  double sum = 0;
  for (std::int64_t row = 0; row < 2; ++row) {
    const std::int64_t used = row == 0 ? 12 : 5;
    const at::Tensor tokens = batch.tokens[row], targets = batch.targets[row];
    std::vector<std::int64_t> in, out;
    for (std::int64_t t = 0; t < used; ++t) {
      in.push_back(tokens[t].item<std::int64_t>());
      out.push_back(targets[t].item<std::int64_t>());
    }
    sum += model.loss(in, out) * static_cast<double>(used);
  }
  CHECK(summary.losses.at("final").get<double>() == Approx(sum / 17).epsilon(1e-5));
}

TEST_CASE("an update that is not finite is skipped, logged, and changes no weight") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  config.budget_tokens = 48;
  Run good(scratch, "good", config);
  good.train();
  config.budget_tokens = 2 * 48;
  config.schedule.final_fraction = 1;
  Run run(scratch, "run", config, std::make_unique<FailingCores>(std::vector<std::int64_t>{1}));
  CHECK(run.train().skips == 1);
  CHECK(same(run.weights(), good.weights()));
  std::string events;
  for (const Json& line : run.log()) events += line.at("event").get<std::string>().substr(0, 2) + " ";
  CHECK(events == "he va tr tr sk va do ch ");
  CHECK(run.log().at(3).at("loss").is_null());
}

TEST_CASE("too many skipped updates in a row end the run with a numerical error") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  config.guard.abort_after_skips = 3;
  Run run(scratch, "run", config, std::make_unique<FailingCores>(std::vector<std::int64_t>{2, 4, 5, 6}));
  try {
    run.train();
    FAIL("not aborted");
  } catch (const Error& error) {
    CHECK(error.kind() == zbphw::ErrorKind::numerical);
    CHECK_THAT(error.what(), Contains("update 7: 3 updates in a row were skipped"));
  }
  CHECK(run.log().back().at("event") == "guard");
}

TEST_CASE("a run that does not fit the directory or the data is refused") {
  const ScratchDirectory scratch;
  TrainConfig config = tiny(scratch);
  Run first(scratch, "run", config);
  first.train();

  Run again(scratch, "run", config);
  again.options.resume = false;
  CHECK_THROWS_WITH(again.train(), Contains("holds checkpoints of an earlier run"));

  scratch.file("text.txt", sentence(41));
  Run changed(scratch, "run", config);
  CHECK_THROWS_WITH(changed.train(), Contains("text.txt: is not the text"));
  changed.options.accept_changed_data = true;
  CHECK_NOTHROW(changed.train());

  config.model.width = 8;
  Run narrower(scratch, "run", config);
  narrower.options.accept_changed_data = true;
  CHECK_THROWS_WITH(narrower.train(), Contains("has another shape"));

  config.model.vocab = 5;
  Run poorer(scratch, "other", config);
  CHECK_THROWS_WITH(poorer.train(), Contains("model.vocab: got 5; allowed: at least 11"));
}

TEST_CASE("the factory makes the cores of each rule") {
  TrainConfig config;
  config.rule = zbphw::LearningRule::bp;
  CHECK(dynamic_cast<DigitalCores*>(zbphw::make_cores(config).get()) != nullptr);
  config.rule = zbphw::LearningRule::zbp;
  CHECK(dynamic_cast<zbphw::PhysicalCores*>(zbphw::make_cores(config).get()) != nullptr);
  config.device = "no_such_device";
  CHECK_THROWS_WITH(zbphw::make_cores(config), Contains("no_such_device"));
}
