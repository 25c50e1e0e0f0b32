#include "training/train_config.hpp"

#include "base/config_kind.hpp"
#include "base/config_path.hpp"

namespace zbphw {
namespace {

bool ends_with(const std::string& text, const std::string& end) {
  return text.size() >= end.size() && text.compare(text.size() - end.size(), end.size(), end) == 0;
}

TrainConfig read_expanded(Json json, const std::string& where) {
  expand_model(json, where);
  return read_config<TrainConfig>(json, where);
}

const Registration<ConfigKind> registered_model("model", described_kind<ModelConfig>("the shape of a language model"));

const Registration<ConfigKind> registered_train("train", {"a training run",
                                                          [](const Json& json, const std::string& where) {
                                                            return write_config(read_expanded(json, where));
                                                          },
                                                          [] { return explain_config<TrainConfig>(); }});

}  // namespace

void describe(Fields& f, BatchConfig& c) {
  f.integer("sequences", c.sequences, between(1, 1 << 20), "sequences of one update");
  f.integer("sequences_per_pass", c.sequences_per_pass, between(1, 1 << 20),
            "sequences that go through the model at once; fewer need less memory and give the same update");
}

void describe(Fields& f, ValidationConfig& c) {
  f.integer("every_steps", c.every_steps, between(1, 1e9),
            "updates between two validations; the last update has one too");
  f.integer("at_most_tokens", c.at_most_tokens, between(1, 1e12),
            "tokens of one validation: contexts spread evenly over the text that is kept for it");
}

void describe(Fields& f, CheckpointConfig& c) {
  f.integer("every_steps", c.every_steps, between(1, 1e9),
            "updates between two checkpoints; the last update has one too");
  f.integer("keep", c.keep, between(1, 1000), "checkpoints kept, the newest ones");
}

void describe(Fields& f, TrainConfig& c) {
  f.text("name", c.name, "the run's name");
  f.integer("seed", c.seed, at_least(0), "of initial weights, batches, probes and noise");
  f.choice("rule", c.rule, "where the gradients of the nonlinear cores come from");
  f.choice("physical", c.physical, "how the physical blocks are simulated");
  f.text("device", c.device, "the analog device: a device file, or the name of a shipped one");
  f.required().object("model", c.model, "the model, or the name of one");
  f.required().object("data", c.data, "the text to learn");
  f.object("batch", c.batch, "the batch");
  f.required().integer("budget_tokens", c.budget_tokens, between(1, 1e15), "tokens to train on");
  f.object("optimizer", c.optimizer, "the update rule");
  f.object("schedule", c.schedule, "the learning rate over the run");
  f.number("clip_norm", c.clip_norm, above(0), "gradients of a larger norm are scaled down to it");
  f.object("validation", c.validation, "the loss on held-out text");
  f.object("checkpoint", c.checkpoint, "saved states");
  f.object("guard", c.guard, "what is done about updates that look wrong");
  f.object("zbp", c.zbp, "options of the rule \"zbp\"");
}

void expand_model(Json& train, const std::string& where) {
  const auto found = train.find("model");
  if (found == train.end()) return;
  Json& model = *found;
  const std::string at = where + ".model";
  if (model.is_string()) {
    const std::string name = model.get<std::string>();
    const std::string path = ends_with(name, ".json") ? name : find_preset("models", name, at);
    model = load_kinded_file("model", path).json;
  } else if (model.is_object()) {
    std::string source = at;
    model = expand_preset(model, "models", source);
    take_kind(model, source);
  }
}

TrainConfig load_train_config(const std::string& path, const std::vector<std::string>& overrides) {
  const KindedFile file = load_kinded_file("train", path, overrides);
  return read_expanded(file.json, file.where);
}

}  // namespace zbphw
