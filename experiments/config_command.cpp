// `zbphw config`: checks a configuration file, or explains a kind of them.
#include <algorithm>
#include <iomanip>
#include <sstream>

#include "base/config_kind.hpp"
#include "experiments/command.hpp"

namespace zbphw {
namespace {

const Registry<ConfigKind>& kinds() { return Registry<ConfigKind>::instance(); }

CommandResult check(const Invocation& invocation) {
  const std::string& path = invocation.get<std::string>("check");
  const std::string wanted = invocation.find<std::string>("kind").value_or("");
  const KindedFile file = load_kinded_file(wanted, path, invocation.common.overrides);
  if (file.kind.empty()) {
    throw config_error(
        file.where, "has no key \"kind\"; name it there or with --kind (known: " + join_choices(kinds().names()) + ")");
  }
  const ConfigKind& kind = kinds().at(file.kind, "kind of configuration", file.where + ".kind");
  CommandResult result;
  result.values["kind"] = file.kind;
  result.values["valid"] = true;
  result.values["config"] = with_kind(file.kind, kind.check(file.json, file.where));
  result.text = path + ": a valid " + file.kind + " configuration\n";
  return result;
}

Json row_json(const FieldRow& row) {
  Json json = Json::object();
  json["key"] = row.path;
  json["type"] = row.type;
  json["unit"] = row.unit;
  json["default"] = row.default_value;
  json["allowed"] = row.allowed;
  json["help"] = row.help;
  return json;
}

std::string table_text(const std::vector<FieldRow>& rows) {
  std::vector<std::vector<std::string>> cells = {{"key", "unit", "default", "allowed", "meaning"}};
  for (const FieldRow& row : rows) cells.push_back({row.path, row.unit, row.default_value, row.allowed, row.help});
  std::vector<std::size_t> widths(cells.front().size(), 0);
  for (const auto& line : cells) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::ostringstream out;
  for (const auto& line : cells) {
    for (std::size_t i = 0; i + 1 < line.size(); ++i) {
      out << std::left << std::setw(static_cast<int>(widths[i]) + 2) << line[i];
    }
    out << line.back() << "\n";
  }
  return out.str();
}

CommandResult explain(const Invocation& invocation) {
  const std::string& name = invocation.get<std::string>("explain");
  const ConfigKind& kind = kinds().at(name, "kind of configuration", "--explain");
  const std::vector<FieldRow> rows = kind.explain();
  CommandResult result;
  result.values["kind"] = name;
  result.values["summary"] = kind.summary;
  result.values["rows"] = Json::array();
  for (const FieldRow& row : rows) result.values["rows"].push_back(row_json(row));
  result.text = name + ": " + kind.summary + "\n\n" + table_text(rows);
  return result;
}

CommandResult run(const Invocation& invocation) {
  if (invocation.has("check") == invocation.has("explain")) {
    throw usage_error("one of --check FILE and --explain KIND is needed (kinds: " + join_choices(kinds().names()) +
                      ")");
  }
  return invocation.has("check") ? check(invocation) : explain(invocation);
}

Command config_command() {
  Command command;
  command.summary = "check a configuration file, or explain the keys of a kind of them";
  command.examples = {"zbphw config --check configs/devices/pcm_crossbar.json",
                      "zbphw config --check my_device.json --set adc.bits=6 --json", "zbphw config --explain device"};
  // clang-format off
  command.options.add_options()
    ("check", option_value<std::string>("FILE"), "read the file as the command that needs it would; with --json, "
                                                 "print the complete effective configuration")
    ("kind", option_value<std::string>("KIND"), "what the file is, where it has no key \"kind\"")
    ("explain", option_value<std::string>("KIND"), "print a table of keys, units, defaults and what is allowed");
  // clang-format on
  command.run = run;
  return command;
}

const Registration<CommandFactory> registered("config", config_command);

}  // namespace
}  // namespace zbphw
