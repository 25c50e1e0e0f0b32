#include "experiments/trace_diff.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "base/trace_writer.hpp"
#include "scratch_directory.hpp"

using zbphw::Hdf5Type;
using zbphw::TraceDifference;
using zbphw::TraceReader;
using zbphw::TraceWriter;

namespace {

struct Content {
  std::vector<double> energy = {1, 2, 3, 4};
  std::vector<float> input = {0, 0.5F, 1, 1.5F, 2, 2.5F};  // rows of 3
  std::string units = "pJ";
  bool with_input = true;
  std::uint64_t seed = 1;
};

std::string write(const ScratchDirectory& scratch, const std::string& name, const Content& content) {
  TraceWriter trace(scratch.path(name), {"simulate", "0.1.0", content.seed, "{}", ""});
  const auto energy = trace.add_series({"/queries/energy_pj", content.units, "energy", {}});
  if (content.with_input) {
    const auto input = trace.add_series({"/signals/input", "1", "input", {3}, Hdf5Type::float32});
    trace.append(input, content.input.data(), static_cast<std::int64_t>(content.input.size() / 3));
  }
  trace.append(energy, content.energy.data(), static_cast<std::int64_t>(content.energy.size()));
  trace.finish();
  return scratch.path(name);
}

std::vector<TraceDifference> differences(const std::function<void(Content&)>& change, double tolerance = 0) {
  const ScratchDirectory scratch;
  Content second;
  change(second);
  const TraceReader a(write(scratch, "a.h5", {}));
  const TraceReader b(write(scratch, "b.h5", second));
  return compare_traces(a, b, tolerance);
}

}  // namespace

TEST_CASE("traces with the same rows do not differ") {
  CHECK(differences([](Content&) {}).empty());
  CHECK(differences([](Content& c) { c.seed = 2; }).empty());
}

TEST_CASE("the first differing row is found with its column and both values") {
  const auto found = differences([](Content& c) {
    c.input[5] = 7;
    c.input[4] = 0.1F;
  });
  REQUIRE(found.size() == 1);
  CHECK(found[0].data_set == "/signals/input");
  CHECK(found[0].kind == "value");
  CHECK(found[0].row == 1);
  CHECK(found[0].column == 1);
  CHECK(found[0].first == "2");
  CHECK(found[0].second == "0.1");
}

TEST_CASE("the data set with the lowest differing row comes first") {
  const auto found = differences([](Content& c) {
    c.energy[3] = 0;
    c.input[3] = 0;
  });
  REQUIRE(found.size() == 2);
  CHECK(found[0].data_set == "/signals/input");
  CHECK(found[1].data_set == "/queries/energy_pj");
}

TEST_CASE("a tolerance is absolute below one and relative above") {
  CHECK(differences([](Content& c) { c.energy[3] = 4.03; }, 0.01).empty());
  CHECK(differences([](Content& c) { c.energy[3] = 4.05; }, 0.01).size() == 1);
  CHECK(differences([](Content& c) { c.input[0] = 0.009F; }, 0.01).empty());
  CHECK(differences([](Content& c) { c.input[0] = 0.011F; }, 0.01).size() == 1);
}

TEST_CASE("NaN equals NaN and nothing else") {
  const ScratchDirectory scratch;
  Content content;
  content.energy[2] = std::nan("");
  const TraceReader a(write(scratch, "a.h5", content));
  const TraceReader b(write(scratch, "b.h5", content));
  CHECK(compare_traces(a, b, 0).empty());
  CHECK(differences([](Content& c) { c.energy[2] = std::nan(""); }, 1e9).size() == 1);
}

TEST_CASE("missing data sets, other units and other lengths are differences") {
  const auto missing = differences([](Content& c) { c.with_input = false; });
  REQUIRE(missing.size() == 1);
  CHECK(missing[0].kind == "missing");
  CHECK(missing[0].second == "absent");
  const auto units = differences([](Content& c) { c.units = "fJ"; });
  REQUIRE(units.size() == 1);
  CHECK(units[0].kind == "units");
  CHECK(units[0].second == "fJ");
  const auto rows = differences([](Content& c) { c.energy.push_back(5); });
  REQUIRE(rows.size() == 1);
  CHECK(rows[0].kind == "rows");
  CHECK(rows[0].row == 4);
  CHECK(rows[0].first == "4");
  CHECK(rows[0].second == "5");
}

TEST_CASE("a difference beyond the first block of rows has the right row") {
  std::vector<double> many(200000);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = double(i);
  const ScratchDirectory scratch;
  Content first;
  first.energy = many;
  Content second = first;
  second.energy[150000] = -1;
  const TraceReader a(write(scratch, "a.h5", first));
  const TraceReader b(write(scratch, "b.h5", second));
  const auto found = compare_traces(a, b, 0);
  REQUIRE(found.size() == 1);
  CHECK(found[0].row == 150000);
}

TEST_CASE("headers are compared but for the time") {
  const zbphw::TraceHeader first = {"simulate", "0.1.0", 1, "{}", "2026-01-01T00:00:00Z"};
  zbphw::TraceHeader second = first;
  second.created_utc = "2027-01-01T00:00:00Z";
  CHECK(compare_headers(first, second).empty());
  second.seed = 2;
  CHECK(compare_headers(first, second) == std::vector<std::string>{"seed: 1 and 2"});
}
