// Names to factories: a new device model, block, estimator or command is one file that registers itself.
//
//     // in device_models/cells/pcm_joshi.cpp
//     const Registration<CellFactory> registered("pcm_joshi", make_pcm_joshi);
//
// The registries are filled before main() by such objects. The build links every object file of a layer (no
// archive member is dropped: see Layers.cmake), so a file that is compiled is a name that exists.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/nearest_name.hpp"

namespace zbphw {

// `Entry` is what a name stands for; each Entry type has one registry.
template <class Entry>
class Registry {
 public:
  // Constructed on first use, so that registration order across files does not matter.
  static Registry& instance() {
    static Registry registry;
    return registry;
  }

  void add(const std::string& name, Entry entry) { entries_.emplace(name, std::move(entry)); }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, entry] : entries_) result.push_back(name);
    return result;
  }

  // Throws a config Error at `where` that lists the names and suggests the nearest. `what`: "cell model", "command".
  const Entry& at(const std::string& name, const std::string& what, const std::string& where) const {
    const auto found = entries_.find(name);
    if (found == entries_.end()) {
      throw config_error(where, "unknown " + what + " '" + name + "'" + did_you_mean(name, names()) +
                                    " (known: " + join_choices(names()) + ")");
    }
    return found->second;
  }

 private:
  std::map<std::string, Entry> entries_;
};

template <class Entry>
struct Registration {
  Registration(const std::string& name, Entry entry) { Registry<Entry>::instance().add(name, std::move(entry)); }
};

}  // namespace zbphw
