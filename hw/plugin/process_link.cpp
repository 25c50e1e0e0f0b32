#include "hw/plugin/process_link.hpp"

#include <cstring>
#include <filesystem>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr const char* host_program = "zbphw_plugin_host";

// Beside the running program, or where the build put it.
std::string host_path() {
  std::error_code error;
  const std::filesystem::path program = std::filesystem::read_symlink("/proc/self/exe", error);
  const std::filesystem::path beside = program.parent_path() / host_program;
  if (!error && std::filesystem::exists(beside, error)) return beside.string();
  return ZBPHW_PLUGIN_HOST;
}

template <class Floats>
std::vector<std::int64_t> counts_of(const std::vector<Floats>& arrays) {
  std::vector<std::int64_t> counts;
  counts.reserve(arrays.size());
  for (const Floats& array : arrays) counts.push_back(array.count);
  return counts;
}

std::size_t bytes_of(std::int64_t count) { return static_cast<std::size_t>(count) * sizeof(float); }

// The answer's "written", one count for each wanted array.
std::vector<std::int64_t> written_counts(const Json& answer, const ChipCall& call) {
  std::vector<std::int64_t> written(call.wanted.size(), 0);
  const auto found = answer.find("written");
  if (found == answer.end()) return written;
  const auto not_right = [&found](const std::string& why) {
    return WireFailure(WireFailure::Cause::not_a_message, "its \"written\" is " + found->dump() + "; " + why);
  };
  if (!found->is_array() || found->size() > written.size()) {
    throw not_right("allowed: a list of at most " + std::to_string(written.size()) + " numbers");
  }
  for (std::size_t k = 0; k < found->size(); ++k) {
    const Json& count = (*found)[k];
    if (!count.is_number_integer() || count < 0 || count > call.wanted[k].count) {
      throw not_right("array " + std::to_string(k) + " has room for " + std::to_string(call.wanted[k].count) +
                      " floats");
    }
    written[k] = count.get<std::int64_t>();
  }
  return written;
}

}  // namespace

std::unique_ptr<ProcessLink> ProcessLink::of_library(const std::string& library) {
  auto shared = std::make_unique<SharedArrays>();
  ChildFiles files;
  files.also = shared->file();
  auto child = std::make_unique<ChildProcess>(std::vector<std::string>{host_path(), library}, "", files);
  return std::unique_ptr<ProcessLink>(new ProcessLink(library, std::move(shared), std::move(child)));
}

std::unique_ptr<ProcessLink> ProcessLink::of_command(const std::vector<std::string>& command,
                                                     const std::string& folder) {
  ChildFiles files;
  files.socket_is_standard_io = true;
  auto child = std::make_unique<ChildProcess>(command, folder, files);
  std::string name;
  for (const std::string& word : command) name += (name.empty() ? "" : " ") + word;
  return std::unique_ptr<ProcessLink>(new ProcessLink(name, nullptr, std::move(child)));
}

Json ProcessLink::call(const ChipCall& call, double timeout_s) {
  if (child_ == nullptr) throw device_error(name_, "was lost at an earlier query");
  const Deadline deadline(timeout_s);
  try {
    return exchange(call, deadline);
  } catch (const WireFailure& failure) {
    switch (failure.cause()) {
      case WireFailure::Cause::timeout:
        child_->kill();
        throw lost("did not answer within " + Json(timeout_s).dump() + " s and was stopped");
      case WireFailure::Cause::closed:
        throw lost("its process " + child_->end_text());
      case WireFailure::Cause::not_a_message:
        child_->kill();
        throw lost(std::string("gave an answer that cannot be understood: ") + failure.what());
    }
    throw;
  }
}

Error ProcessLink::lost(const std::string& why) {
  child_.reset();
  return device_error(name_, why);
}

Json ProcessLink::exchange(const ChipCall& call, const Deadline& deadline) {
  Json header = call.header;
  header["sent"] = counts_of(call.sent);
  header["wanted"] = counts_of(call.wanted);
  return shared_ == nullptr ? exchange_inline(call, header, deadline) : exchange_shared(call, header, deadline);
}

Json ProcessLink::exchange_shared(const ChipCall& call, const Json& header, const Deadline& deadline) {
  const ArrayLayout layout(counts_of(call.sent), counts_of(call.wanted));
  shared_->grow(layout.bytes);
  for (std::size_t k = 0; k < call.sent.size(); ++k) {
    if (call.sent[k].count > 0)
      std::memcpy(shared_->at(layout.sent[k]), call.sent[k].data, bytes_of(call.sent[k].count));
  }
  for (std::size_t k = 0; k < call.wanted.size(); ++k) {
    std::memset(shared_->at(layout.wanted[k]), 0, bytes_of(call.wanted[k].count));
    shared_->set_guard(layout.wanted[k], call.wanted[k].count);
  }
  send_header(child_->socket(), header, deadline);
  Json answer = receive_header(child_->socket(), deadline);
  const std::vector<std::int64_t> written = written_counts(answer, call);
  for (std::size_t k = 0; k < call.wanted.size(); ++k) {
    if (!shared_->guard_is_whole(layout.wanted[k], call.wanted[k].count)) {
      throw WireFailure(WireFailure::Cause::not_a_message, "it wrote beyond the end of array " + std::to_string(k) +
                                                               ", which has room for " +
                                                               std::to_string(call.wanted[k].count) + " floats");
    }
    if (written[k] > 0) std::memcpy(call.wanted[k].data, shared_->at(layout.wanted[k]), bytes_of(written[k]));
  }
  return answer;
}

Json ProcessLink::exchange_inline(const ChipCall& call, const Json& header, const Deadline& deadline) {
  const int socket = child_->socket();
  send_header(socket, header, deadline);
  for (const SentFloats& array : call.sent) send_bytes(socket, array.data, bytes_of(array.count), deadline);
  Json answer = receive_header(socket, deadline);
  const std::vector<std::int64_t> written = written_counts(answer, call);
  for (std::size_t k = 0; k < written.size(); ++k) {
    receive_bytes(socket, call.wanted[k].data, bytes_of(written[k]), deadline);
  }
  return answer;
}

}  // namespace zbphw
