// zbphw_plugin_host LIBRARY: the child process of an isolated plugin. zbphw starts it; people do not.
//
// File descriptor 3 is the socket that headers travel on, 4 the memory that arrays lie in. Ends when the socket does.
#include <malloc.h>

#include <cstdio>
#include <limits>
#include <memory>

#include "base/error.hpp"
#include "hw/plugin/plugin_library.hpp"
#include "hw/plugin/shared_arrays.hpp"
#include "hw/plugin/wire.hpp"

namespace {

using namespace zbphw;

constexpr int socket_file = 3;
constexpr int shared_file = 4;

// Nobody hurries the child: the parent has the deadline, and kills it.
const Deadline never(std::numeric_limits<double>::infinity());

ChipCall call_in(const Json& header, SharedArrays& shared) {
  const auto sent = header.at("sent").get<std::vector<std::int64_t>>();
  const auto wanted = header.at("wanted").get<std::vector<std::int64_t>>();
  const ArrayLayout layout(sent, wanted);
  shared.map(layout.bytes);
  ChipCall call;
  call.header = header;
  for (std::size_t k = 0; k < sent.size(); ++k) {
    call.sent.push_back({sent[k] == 0 ? nullptr : shared.at(layout.sent[k]), sent[k]});
  }
  for (std::size_t k = 0; k < wanted.size(); ++k) call.wanted.push_back({shared.at(layout.wanted[k]), wanted[k]});
  return call;
}

// The library is loaded at the first call, so that why it cannot be is an answer.
Json answer_to(const Json& header, const char* path, SharedArrays& shared, std::unique_ptr<PluginLibrary>& library) {
  try {
    if (library == nullptr) library = std::make_unique<PluginLibrary>(path);
    return library->call(call_in(header, shared), 0);
  } catch (const Error& error) {
    return {{"error", error.message()}};
  } catch (const std::exception& error) {
    return {{"error", error.what()}};
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "zbphw_plugin_host is started by zbphw, with a plugin's library\n");
    return 2;
  }
  // A plugin that allocates for each batch keeps its memory: giving it back and faulting it in again costs more than
  // many a query.
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, -1);
  std::unique_ptr<PluginLibrary> library;
  SharedArrays shared(shared_file);
  try {
    while (true) {
      const Json header = receive_header(socket_file, never);
      send_header(socket_file, answer_to(header, argv[1], shared, library), never);
    }
  } catch (const WireFailure& failure) {
    // The end of zbphw, or of its interest in this plugin.
    return failure.cause() == WireFailure::Cause::closed ? 0 : 1;
  }
}
