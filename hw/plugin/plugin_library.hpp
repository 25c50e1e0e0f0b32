// A plugin that is a shared library, loaded into this process: calls become functions of zbphw_plugin.h.
//
// Used by zbphw itself ("isolation": "none") and by zbphw_plugin_host, the child process of an isolated plugin. Knows
// nothing of timeouts: a library that hangs, hangs its process.
#pragma once

#include <string>
#include <vector>

#include "hw/plugin/chip_link.hpp"
#include "hw/plugin/zbphw_plugin.h"

namespace zbphw {

class PluginLibrary final : public ChipLink {
 public:
  // `path` as dlopen() takes it. Throws a device Error for a library that is not there, has no entry function, or
  // speaks another version of the interface.
  explicit PluginLibrary(const std::string& path);
  ~PluginLibrary() override;
  PluginLibrary(const PluginLibrary&) = delete;
  PluginLibrary& operator=(const PluginLibrary&) = delete;

  // Ignores the timeout.
  Json call(const ChipCall& call, double timeout_s) override;

 private:
  Json hello();
  Json open(const ChipCall& call);
  Json describe_chip(zbphw_chip* chip);
  Json query(zbphw_chip* chip, const ChipCall& call);
  Json settle(zbphw_chip* chip, const ChipCall& call);
  Json probe(zbphw_chip* chip, const ChipCall& call);
  Json ports(zbphw_chip* chip, const ChipCall& call);
  Json program(zbphw_chip* chip, const ChipCall& call);
  Json resume(zbphw_chip* chip, const ChipCall& call);
  Json close(std::size_t number);

  Json answer_of(zbphw_chip* chip, int status, const std::vector<std::int64_t>& written);
  // {"error": ...} for a status that is not ZBPHW_OK; null otherwise.
  Json failure(zbphw_chip* chip, int status) const;
  // Adds "totals" where the library has them.
  void add_totals(zbphw_chip* chip, Json& answer) const;

  void* handle_ = nullptr;
  const zbphw_plugin* table_ = nullptr;
  std::vector<zbphw_chip*> chips_;  // by number; null once closed
};

}  // namespace zbphw
