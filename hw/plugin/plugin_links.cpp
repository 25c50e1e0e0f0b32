#include "hw/plugin/plugin_links.hpp"

#include <algorithm>
#include <filesystem>

#include "base/error.hpp"
#include "hw/plugin/plugin_library.hpp"
#include "hw/plugin/process_link.hpp"

namespace zbphw {
namespace {

// Relative to the folder if it is there; else as dlopen() finds it.
std::string library_path(const PluginConfig& config) {
  const std::filesystem::path inside = std::filesystem::path(config.folder) / config.library;
  std::error_code error;
  return std::filesystem::exists(inside, error) ? inside.string() : config.library;
}

std::shared_ptr<ChipLink> start(const PluginConfig& config) {
  if (!config.command.empty()) return ProcessLink::of_command(config.command, config.folder);
  const std::string path = library_path(config);
  if (config.isolation == Isolation::process) return ProcessLink::of_library(path);
  return std::make_shared<PluginLibrary>(path);
}

std::vector<std::string> texts(const Json& answer, const char* key, const std::string& name) {
  const auto found = answer.find(key);
  if (found == answer.end()) return {};
  const bool all_texts =
      found->is_array() && std::all_of(found->begin(), found->end(), [](const Json& item) { return item.is_string(); });
  if (!all_texts) {
    throw device_error(name, std::string("its \"") + key + "\" is " + found->dump() + "; allowed: a list of texts");
  }
  return found->get<std::vector<std::string>>();
}

PluginLink introduced(std::shared_ptr<ChipLink> link, const PluginConfig& config) {
  PluginLink result;
  const std::string name = config.name();
  const Json answer =
      link->call({{{"op", "hello"}, {"version", ZBPHW_PLUGIN_VERSION}}, {}, {}}, config.start_timeout_s);
  const auto error = answer.find("error");
  if (error != answer.end()) throw device_error(name, error->is_string() ? error->get<std::string>() : error->dump());
  if (answer.value("version", Json()) != Json(ZBPHW_PLUGIN_VERSION)) {
    throw device_error(name, "speaks version " + answer.value("version", Json()).dump() +
                                 " of the plugin interface; this zbphw speaks version " +
                                 std::to_string(ZBPHW_PLUGIN_VERSION));
  }
  const auto own_name = answer.find("name");
  result.name = own_name != answer.end() && own_name->is_string() ? own_name->get<std::string>() : name;
  result.blocks = texts(answer, "blocks", name);
  result.can = texts(answer, "can", name);
  result.link = std::move(link);
  return result;
}

}  // namespace

bool PluginLink::offers(const std::string& operation) const {
  return std::find(can.begin(), can.end(), operation) != can.end();
}

PluginLink PluginLinks::link(const PluginConfig& config) {
  const Json key = {config.library, config.command, choice_text(config.isolation), config.folder};
  const auto found = links_.find(key.dump());
  if (found != links_.end()) return found->second;
  const PluginLink fresh = introduced(start(config), config);
  links_.emplace(key.dump(), fresh);
  return fresh;
}

}  // namespace zbphw
