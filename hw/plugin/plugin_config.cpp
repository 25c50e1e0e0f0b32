#include "hw/plugin/plugin_config.hpp"

namespace zbphw {
namespace {

struct PluginSection {
  PluginConfig plugin;
};

void describe(Fields& f, PluginSection& c) { f.object("plugin", c.plugin, "a chip that is attached"); }

}  // namespace

std::vector<std::pair<Isolation, std::string>> Choices<Isolation>::all() {
  return {{Isolation::process, "process"}, {Isolation::none, "none"}};
}

std::string PluginConfig::name() const {
  if (command.empty()) return library;
  std::string text;
  for (const std::string& word : command) text += (text.empty() ? "" : " ") + word;
  return text;
}

void describe(Fields& f, PluginConfig& c) {
  f.text("library", c.library, "a shared library (hw/plugin/zbphw_plugin.h): a path, seen from folder, or a name");
  f.texts("command", c.command, "instead of a library: a program and its arguments, which is asked through a socket");
  f.require(c.library.empty() != c.command.empty(), "library", "give either a library or a command");
  f.choice("isolation", c.isolation, "where a library runs; a process of its own may hang or die without harm");
  f.require(c.command.empty() || c.isolation == Isolation::process, "isolation", "a command is a process of its own");
  f.number("timeout_s", c.timeout_s, above_up_to(0, 1e6), "a process that takes longer to answer is stopped");
  f.number("start_timeout_s", c.start_timeout_s, above_up_to(0, 1e6),
           "the same for starting, opening a block and programming");
  f.raw("options", c.options, "passed on to the plugin as it is");
  f.text("folder", c.folder, "where a command starts and a library is looked for; empty: the device file's folder");
}

bool names_plugin(const Json& section) { return section.is_object() && section.contains("plugin"); }

PluginConfig read_plugin(const RawConfig& section) {
  Json json = section.value;
  if (json.at("plugin").is_string()) json["plugin"] = {{"library", json["plugin"]}};
  return read_config<PluginSection>(json, section.where).plugin;
}

Json complete_plugin(const RawConfig& section, const std::string& folder) {
  PluginSection complete{read_plugin(section)};
  if (complete.plugin.folder.empty()) complete.plugin.folder = folder;
  return write_config(complete);
}

std::vector<FieldRow> explain_plugin() { return explain_config<PluginSection>(); }

}  // namespace zbphw
