// Whatever a plugin does wrong is a device Error that names it and the query, and never the end of zbphw.
#include <ATen/ATen.h>  // before Catch: LibTorch has a CHECK of its own
#include <unistd.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <csignal>
#include <thread>

#include "base/error.hpp"
#include "child_process.hpp"
#include "plugin_fixture.hpp"
#include "scratch_directory.hpp"

using namespace zbphw;
using Catch::Contains;

namespace {

// The message of the device Error that `body` throws; "" without one.
template <class Body>
std::string device_failure(const Body& body) {
  try {
    body();
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::device);
    CHECK(exit_code(error.kind()) == 5);
    return error.what();
  }
  return "";
}

// Asks three batches of four rows in pass 6, layer 1; the fault is at query 6, the third row of the second batch.
std::string failure_of_queries(const std::string& fault, const Json& more = {}) {
  return device_failure([&] {
    const auto block = fault_block("swiglu", wide(3), {{"fault", fault}, {"at_query", 6}}, more);
    QueryBatch batch = batch_of(waves(4, 6));
    batch.slot.step = 6;
    batch.slot.block = 1;
    for (int k = 0; k < 3; ++k) {
      batch.slot.first_row = 100;
      CHECK(k < 2);  // the second one fails
      block->query(batch);
    }
  });
}

const std::string the_batch = "libzbphw_fault_plugin.so (swiglu): queries 4 to 7 (pass 6, layer 1, rows 100 to 103): ";
const std::string the_query = "libzbphw_fault_plugin.so (swiglu): query 6 (pass 6, layer 1, row 102): ";

bool is_running(pid_t id) { return kill(id, 0) == 0; }

}  // namespace

TEST_CASE("a plugin that hangs is stopped in time, and the error names the queries") {
  const auto start = std::chrono::steady_clock::now();
  CHECK_THAT(failure_of_queries("hang", {{"timeout_s", 0.2}}),
             Contains(the_batch + "did not answer within 0.2 s and was stopped"));
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(30));
}

TEST_CASE("a plugin that dies is an error with the way it died") {
#if defined(__SANITIZE_ADDRESS__)
  CHECK_THAT(failure_of_queries("crash"), Contains(the_batch + "its process ended with exit code 1"));
#else
  CHECK_THAT(failure_of_queries("crash"), Contains(the_batch + "its process was killed by signal 11"));
#endif
  CHECK_THAT(failure_of_queries("exit"), Contains(the_batch + "its process ended with exit code 3"));
}

TEST_CASE("an answer that is not finite names its query and its output, isolated or not") {
  for (const Json& more : {Json{{"isolation", "process"}}, Json{{"isolation", "none"}}}) {
    CHECK_THAT(failure_of_queries("nan", more), Contains(the_query + "output 1 is not a number"));
    CHECK_THAT(failure_of_queries("infinite", more), Contains(the_query + "output 0 is infinite"));
    CHECK_THAT(failure_of_queries("nan applied", more), Contains(the_query + "applied input 0 is not a number"));
  }
}

TEST_CASE("an answer of another size is refused, isolated or not") {
  for (const Json& more : {Json{{"isolation", "process"}}, Json{{"isolation", "none"}}}) {
    CHECK_THAT(failure_of_queries("short", more), Contains(the_batch + "gave 9 values where 12 were asked for"));
    CHECK_THAT(failure_of_queries("no applied", more),
               Contains(the_batch + "gave 23 applied inputs where 24 were asked for"));
  }
  CHECK_THAT(failure_of_queries("long", {{"isolation", "none"}}),
             Contains(the_batch + "gave 13 values where 12 were asked for"));
  CHECK_THAT(failure_of_queries("long"), Contains(the_batch) && Contains("array 0 has room for 12 floats"));
  CHECK_THAT(failure_of_queries("overrun"), Contains(the_batch) && Contains("wrote beyond the end of array 0"));
}

TEST_CASE("a plugin's own error and an unknown status are passed on") {
  for (const Json& more : {Json{{"isolation", "process"}}, Json{{"isolation", "none"}}}) {
    CHECK_THAT(failure_of_queries("error", more),
               Contains(the_batch + "failed (status 1): the bias supply is out of its range"));
    CHECK_THAT(failure_of_queries("status", more), Contains(the_batch) && Contains("status 99"));
    CHECK_THAT(failure_of_queries("bad clock", more), Contains("totals"));
  }
}

TEST_CASE("a plugin that fails once goes on when it can, and a lost one says so") {
  const auto failing = fault_block("swiglu", wide(3), {{"fault", "error"}, {"at_query", 0}});
  CHECK_THROWS_AS(failing->query(batch_of(waves(4, 6))), Error);
  CHECK_NOTHROW(failing->query(batch_of(waves(4, 6))));
  const auto dying = fault_block("swiglu", wide(3), {{"fault", "exit"}, {"at_query", 0}});
  CHECK_THROWS_AS(dying->query(batch_of(waves(4, 6))), Error);
  CHECK_THAT(device_failure([&] { dying->query(batch_of(waves(4, 6))); }), Contains("was lost at an earlier query"));
}

TEST_CASE("a library that is no plugin, or another version's, is refused by name") {
  const std::pair<const char*, const char*> wrong[] = {
      {ZBPHW_FAULT_PLUGIN_VERSION, "speaks version 7 of the plugin interface; this zbphw speaks version 1"},
      {ZBPHW_FAULT_PLUGIN_SIZE, "has a table of 40 bytes"},
      {ZBPHW_FAULT_PLUGIN_NO_ENTRY, "has no symbol zbphw_plugin_v1"},
      {"/nowhere/libnone.so", "cannot be loaded"},
      {"libnone.so", "cannot be loaded"}};
  for (const auto& [library, message] : wrong) {
    for (const char* isolation : {"process", "none"}) {
      const Json more = {{"library", library}, {"isolation", isolation}};
      CHECK_THAT(device_failure([&, &l = more] { fault_block("swiglu", wide(3), Json::object(), l); }),
                 Contains(message) && Contains(std::string(library) + " (swiglu)"));
    }
  }
}

TEST_CASE("mistakes of a plugin at the opening of a block are told") {
  for (const char* isolation : {"process", "none"}) {
    const auto opening = [isolation](const std::string& fault, const std::string& kind = "swiglu") {
      return device_failure([&] { fault_block(kind, wide(3), {{"fault", fault}}, {{"isolation", isolation}}); });
    };
    CHECK_THAT(opening("no open"), Contains("(swiglu): failed (status 1): the chip's power is off"));
    CHECK_THAT(opening("wrong width"), Contains("has 7 inputs and 3 outputs; asked for were 6 and 3"));
    CHECK_THAT(opening("unknown key"), Contains("its description") && Contains("colour"));
    CHECK_THAT(opening("no description"), Contains("describe() returned a null pointer"));
    CHECK_THAT(opening("no json"), Contains("describe() returned what is no JSON object: sixty-four wide"));
    CHECK_THAT(opening("", "swiglo"), Contains("offers no block \"swiglo\"; did you mean 'swiglu'?"));
  }
}

TEST_CASE("a hanging plugin does not outlive a zbphw that is killed") {
  const ScratchDirectory scratch;
  const std::string pid_file = scratch.path("pid");
  const pid_t parent = start_child([&] {
    const auto block = fault_block("swiglu", wide(3), {{"fault", "hang"}, {"at_query", 0}, {"pid_file", pid_file}});
    block->query(batch_of(waves(1, 6)));
    return 0;
  });
  pid_t plugin = 0;
  for (int k = 0; k < 3000 && plugin == 0; ++k) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    plugin = std::atoi(file_text(pid_file).c_str());
  }
  REQUIRE(plugin > 0);
  REQUIRE(plugin != parent);
  CHECK(is_running(plugin));
  kill(parent, SIGKILL);
  CHECK(wait_for_child(parent) == -SIGKILL);
  for (int k = 0; k < 1000 && is_running(plugin); ++k) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  CHECK_FALSE(is_running(plugin));
}

TEST_CASE("a program that cannot be started, or speaks otherwise, is told") {
  const auto failure_of = [](const Json& command) {
    return device_failure([&] {
      const Json plugin = {{"command", command}, {"start_timeout_s", 1}};
      PluginBlock("swiglu", plugin_section(plugin), wide(3));
    });
  };
  CHECK_THAT(failure_of({"no-such-program"}), Contains("no-such-program (swiglu): cannot be started: No such file"));
  CHECK_THAT(failure_of({"true"}), Contains("true (swiglu): its process ended with exit code 0"));
  CHECK_THAT(failure_of({"sh", "-c", "echo Hello, instrument; sleep 100"}),
             Contains("cannot be understood") && Contains("Hell"));
  CHECK_THAT(failure_of({"sleep", "100"}), Contains("sleep 100 (swiglu): did not answer within 1.0 s"));
}

TEST_CASE("mistakes in a device file's plugin are config errors") {
  const auto message = [](const Json& plugin) {
    try {
      PluginBlock("swiglu", plugin_section(plugin), wide(3));
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::config);
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK_THAT(message(Json::object()), Contains("$.blocks.x.plugin.library: give either a library or a command"));
  CHECK_THAT(message({{"library", "a.so"}, {"command", {"b"}}}), Contains("give either"));
  CHECK_THAT(message({{"command", {"b"}}, {"isolation", "none"}}), Contains("a command is a process of its own"));
  CHECK_THAT(message({{"library", "a.so"}, {"isolation", "some"}}), Contains("allowed: process or none"));
  CHECK_THAT(message({{"library", "a.so"}, {"timeout_s", 0}}), Contains("timeout_s"));
  CHECK_THAT(message({{"library", "a.so"}, {"options", 3}}), Contains("options"));
  CHECK_THAT(message({{"library", "a.so"}, {"optoins", Json::object()}}), Contains("did you mean 'options'"));
  CHECK_THAT(message(3), Contains("$.blocks.x.plugin"));
}
