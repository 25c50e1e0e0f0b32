// `zbphw model --info`: what a model is made of and what it costs, from its file alone.
#include <iomanip>
#include <sstream>

#include "base/config_kind.hpp"
#include "base/config_path.hpp"
#include "experiments/command.hpp"
#include "experiments/figures.hpp"
#include "training/model_size.hpp"

namespace zbphw {
namespace {

Json parts_json(const std::vector<ModelPart>& parts) {
  Json json = Json::array();
  for (const ModelPart& part : parts) {
    json.push_back({{"name", part.name},
                    {"copies", part.copies},
                    {"parameters_each", part.parameters},
                    {"parameters", part.copies * part.parameters}});
  }
  return json;
}

std::string parts_table(const std::vector<ModelPart>& parts, std::int64_t total) {
  std::ostringstream out;
  const auto line = [&](const std::string& name, const std::string& copies, const std::string& each,
                        const std::string& all) {
    out << "  " << std::left << std::setw(38) << name << std::right << std::setw(6) << copies << std::setw(14) << each
        << std::setw(16) << all << "\n";
  };
  line("part", "copies", "parameters", "together");
  for (const ModelPart& part : parts) {
    line(part.name, std::to_string(part.copies), grouped(part.parameters), grouped(part.copies * part.parameters));
  }
  line("total", "", "", grouped(total));
  return out.str();
}

std::string info_text(const std::string& path, const ModelConfig& c) {
  const TrainingStateBytes bytes = training_state_bytes(c);
  const auto forward = static_cast<double>(forward_operations_per_token(c));
  std::ostringstream out;
  out << path << ": " << c.layers << " layers of width " << c.width << ", " << c.heads << " heads of width "
      << c.head_width() << ", SwiGLU width " << c.ffn_width() << ", " << grouped(c.vocab) << " token kinds, context "
      << grouped(c.context_tokens) << ", " << choice_text(c.positions) << " positions\n\n"
      << parts_table(model_parts(c), parameter_count(c)) << "\n"
      << "memory in fp32: weights " << bytes_text(bytes.weights) << ", gradients " << bytes_text(bytes.gradients)
      << ", optimiser " << bytes_text(bytes.optimiser_adamw) << " (AdamW) or " << bytes_text(bytes.optimiser_muon)
      << " (Muon hybrid)\n"
      << "operations a token: " << three_digits(forward / 1e6) << " MFLOP forward, " << three_digits(3 * forward / 1e6)
      << " MFLOP to train by backpropagation\n"
      << "activations depend on the batch: 'zbphw train --model " << path << " --dry-run' measures them\n";
  return out.str();
}

CommandResult run(const Invocation& invocation) {
  if (!invocation.has("info")) throw usage_error("--info FILE is needed");
  const std::string& given = invocation.get<std::string>("info");
  const bool is_path = given.find('/') != std::string::npos || given.find('.') != std::string::npos;
  const std::string path = is_path ? given : find_preset("models", given, "--info");
  const auto config = load_config_of_kind<ModelConfig>("model", path, invocation.common.overrides);
  if (config.vocab == 0) {
    throw config_error(path + ": $.vocab",
                       "is 0, the number of the data's token kinds; give one with --set vocab=NUMBER");
  }
  const TrainingStateBytes bytes = training_state_bytes(config);
  CommandResult result;
  result.values["model"] = path;
  result.values["config"] = write_config(config);
  result.values["parameters"] = parameter_count(config);
  result.values["parts"] = parts_json(model_parts(config));
  result.values["memory_bytes"] = {{"weights", bytes.weights},
                                   {"gradients", bytes.gradients},
                                   {"optimiser_adamw", bytes.optimiser_adamw},
                                   {"optimiser_muon", bytes.optimiser_muon}};
  result.values["flops_per_token"] = {{"forward", forward_operations_per_token(config)},
                                      {"training", 3 * forward_operations_per_token(config)}};
  result.text = info_text(given, config);
  return result;
}

Command model_command() {
  Command command;
  command.summary = "show a model's layers, parameters, memory and operations a token";
  command.examples = {"zbphw model --info s60", "zbphw model --info configs/models/rung_135m.json --json",
                      "zbphw model --info quickstart --set vocab=145"};
  // clang-format off
  command.options.add_options()
    ("info", option_value<std::string>("FILE"), "the model, or the name of a shipped one");
  // clang-format on
  command.run = run;
  return command;
}

const Registration<CommandFactory> registered("model", model_command);

}  // namespace
}  // namespace zbphw
