#include "experiments/command.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "base/threads.hpp"

using Catch::Contains;
using zbphw::Command;
using zbphw::Invocation;
using zbphw::option_value;

namespace {

Command example() {
  Command command;
  command.options.add_options()("device", option_value<std::string>("FILE"), "the device");
  command.options.add_options()("steps", option_value<int>("N")->default_value(10), "steps");
  return command;
}

Invocation read(const std::vector<std::string>& arguments) {
  return zbphw::read_arguments("train", example(), arguments);
}

}  // namespace

TEST_CASE("without options the defaults hold") {
  const Invocation invocation = read({});
  CHECK(invocation.seed() == 1);
  CHECK_FALSE(invocation.common.seed.has_value());
  CHECK(invocation.common.threads == zbphw::allowed_cpus());
  CHECK(invocation.common.compute == zbphw::Compute::cpu);
  CHECK_FALSE(invocation.common.json);
  CHECK_FALSE(invocation.common.force);
  CHECK(invocation.out_directory("quickstart") == "runs/train/quickstart");
  CHECK(invocation.get<int>("steps") == 10);
  CHECK_FALSE(invocation.find<std::string>("device").has_value());
}

TEST_CASE("common and own options are read in any order") {
  const Invocation invocation =
      read({"--json", "--steps", "3", "--set", "adc.bits=6", "--device=a.json", "--seed", "9223372036854775807",
            "--set", "dac.bits=4", "--out", "/tmp/x", "--threads", "3"});
  CHECK(invocation.common.json);
  CHECK(invocation.get<int>("steps") == 3);
  CHECK(invocation.get<std::string>("device") == "a.json");
  CHECK(invocation.seed() == 9223372036854775807ULL);
  CHECK(invocation.common.threads == 3);
  CHECK(invocation.common.overrides == std::vector<std::string>{"adc.bits=6", "dac.bits=4"});
  CHECK(invocation.out_directory("quickstart") == "/tmp/x");
}

TEST_CASE("an unknown option is refused with the nearest name") {
  CHECK_THROWS_WITH(read({"--devise", "a.json"}), Contains("'--devise'") && Contains("did you mean '--device'?"));
  CHECK_THROWS_WITH(read({"--devise=a.json"}), Contains("unknown option '--devise' of 'train'"));
  CHECK_THROWS_WITH(read({"--sede", "3"}), Contains("did you mean '--seed'?"));
  CHECK_THROWS_WITH(read({"-x"}), Contains("unknown option '-x'"));
}

TEST_CASE("an abbreviation is not an option") {
  CHECK_THROWS_WITH(read({"--dev", "a.json"}), Contains("unknown option '--dev'"));
}

TEST_CASE("bad values are usage errors that name the option") {
  CHECK_THROWS_WITH(read({"--steps", "many"}), Contains("--steps") && Contains("many"));
  CHECK_THROWS_WITH(read({"--steps"}), Contains("--steps"));
  CHECK_THROWS_WITH(read({"--seed", "-1"}), Contains("--seed -1: allowed: from 0"));
  CHECK_THROWS_WITH(read({"--seed", "99999999999999999999"}), Contains("--seed"));
  CHECK_THROWS_WITH(read({"--threads", "0"}), Contains("--threads 0: allowed: from 1"));
  CHECK_THROWS_WITH(read({"--compute", "gpu"}), Contains("--compute gpu: allowed: cpu or cuda"));
  CHECK_THROWS_WITH(read({"--out", ""}), Contains("--out is empty"));
  CHECK_THROWS_WITH(read({"--seed", "1", "--seed", "2"}), Contains("--seed"));
}

TEST_CASE("a stray word is refused by a command that takes none, and read by one that does") {
  CHECK_THROWS_WITH(read({"quick"}), Contains("unexpected argument 'quick'"));
  Command command = example();
  command.options.add_options()("action", option_value<std::string>("ACTION"), "what to do");
  command.positional.add("action", 1);
  CHECK(zbphw::read_arguments("data", command, {"prepare"}).get<std::string>("action") == "prepare");
  CHECK_THROWS_WITH(zbphw::read_arguments("data", command, {"prepare", "more"}),
                    Contains("unexpected argument 'more'"));
}
