// What a device file says about a chip that is attached instead of simulated.
//
//     "blocks": {"softmax": {"plugin": "libmychip.so"},
//                "swiglu": {"plugin": {"command": ["python3", "my_bench.py"], "timeout_s": 2}}}
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/fields.hpp"

namespace zbphw {

enum class Isolation {
  process,  // a child process: a plugin that hangs or dies is an error
  none,     // in this process: no copies, and it takes zbphw with it
};
template <>
struct Choices<Isolation> {
  static std::vector<std::pair<Isolation, std::string>> all();
};

struct PluginConfig {
  std::string library;
  std::vector<std::string> command;
  Isolation isolation = Isolation::process;
  double timeout_s = 10;
  double start_timeout_s = 60;
  RawConfig options;
  std::string folder;

  // The library or command, as errors name it.
  std::string name() const;
};
void describe(Fields& f, PluginConfig& c);

// Whether a block's section of a device file names a plugin.
bool names_plugin(const Json& section);

// Reads such a section: {"plugin": ...} and nothing beside it, the short form a library's name. Throws a config Error.
PluginConfig read_plugin(const RawConfig& section);

// The section with every default filled in, and `folder` where the file names none.
Json complete_plugin(const RawConfig& section, const std::string& folder);

// Keys, units, defaults and ranges of "plugin".
std::vector<FieldRow> explain_plugin();

}  // namespace zbphw
