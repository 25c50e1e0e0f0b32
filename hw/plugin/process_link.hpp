// A chip behind another process: a library in zbphw_plugin_host (arrays in shared memory), or any program that speaks
// the protocol of wire.hpp on its standard input and output (arrays inline). A process that does not answer in time is
// killed; one that dies, dies alone.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "hw/plugin/child_process.hpp"
#include "hw/plugin/chip_link.hpp"
#include "hw/plugin/shared_arrays.hpp"
#include "hw/plugin/wire.hpp"

namespace zbphw {

class ProcessLink final : public ChipLink {
 public:
  // `library` as PluginLibrary takes it, loaded by a child process. Throws a device Error when there is no such
  // process.
  static std::unique_ptr<ProcessLink> of_library(const std::string& library);
  // `command` is started in `folder` ("": here) and talks on its standard input and output. Throws a device Error.
  static std::unique_ptr<ProcessLink> of_command(const std::vector<std::string>& command, const std::string& folder);

  Json call(const ChipCall& call, double timeout_s) override;

 private:
  ProcessLink(std::string name, std::unique_ptr<SharedArrays> shared, std::unique_ptr<ChildProcess> child)
      : name_(std::move(name)), shared_(std::move(shared)), child_(std::move(child)) {}

  Json exchange(const ChipCall& call, const Deadline& deadline);
  Json exchange_shared(const ChipCall& call, const Json& header, const Deadline& deadline);
  Json exchange_inline(const ChipCall& call, const Json& header, const Deadline& deadline);
  // Why the link is lost, as a device Error; the child is gone afterwards.
  Error lost(const std::string& why);

  std::string name_;
  std::unique_ptr<SharedArrays> shared_;  // null: arrays travel inline
  std::unique_ptr<ChildProcess> child_;   // null: lost
};

}  // namespace zbphw
