#include "base/trace_reader.hpp"

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Hdf5DataSet;
using zbphw::Hdf5File;
using zbphw::Hdf5Type;
using zbphw::TraceReader;

namespace {

// A trace as another program may write it: without the texts' checksums. Empty texts and version 0 are left out.
std::string write_foreign(const ScratchDirectory& scratch, const std::string& format, std::uint64_t version,
                          const std::string& units) {
  const std::string path = scratch.path("t.h5");
  std::filesystem::remove(path);
  Hdf5File file = Hdf5File::create(path);
  if (!format.empty()) file.set_text("/", "format", format);
  if (version > 0) file.set_integer("/", "format_version", version);
  for (const char* name : {"command", "version", "device_json", "created_utc"}) file.set_text("/", name, "x");
  file.set_integer("/", "seed", 3);
  const double rows[] = {1, 2, 3};
  Hdf5DataSet set = file.create_data_set("/queries/energy_pj", {Hdf5Type::float64, {}, 2});
  set.append(rows, 3);
  if (!units.empty()) file.set_text("/queries/energy_pj", "units", units);
  file.set_text("/queries/energy_pj", "description", "energy");
  set = {};
  file.close();
  return path;
}

}  // namespace

TEST_CASE("a trace of another writer is read") {
  const ScratchDirectory scratch;
  const TraceReader trace(write_foreign(scratch, "zbphw-trace", 1, "pJ"));
  CHECK(trace.header().seed == 3);
  CHECK(trace.read<double>("/queries/energy_pj", 1, 2) == std::vector<double>{2, 3});
  CHECK(trace.read<double>("/queries/energy_pj", 3, 0).empty());
}

TEST_CASE("files of another format or version are refused") {
  const ScratchDirectory scratch;
  const auto open = [&](const std::string& format, std::uint64_t version, const std::string& units) {
    const TraceReader trace(write_foreign(scratch, format, version, units));
  };
  CHECK_THROWS_WITH(open("", 1, "pJ"), Contains("t.h5: is not a trace"));
  CHECK_THROWS_WITH(open("other", 1, "pJ"), Contains("is not a trace"));
  CHECK_THROWS_WITH(open("zbphw-trace", 2, "pJ"), Contains("format version 2; this program reads version 1"));
  CHECK_THROWS_WITH(open("zbphw-trace", 0, "pJ"), Contains("has no attribute 'format_version'"));
  CHECK_THROWS_WITH(open("zbphw-trace", 1, ""), Contains("/queries/energy_pj has no attribute 'units'"));
}

TEST_CASE("data sets and rows that are not there are refused by name") {
  const ScratchDirectory scratch;
  const TraceReader trace(write_foreign(scratch, "zbphw-trace", 1, "pJ"));
  CHECK_FALSE(trace.has_series("/queries/energy"));
  CHECK_THROWS_WITH(trace.find("/queries/energy"), Contains("did you mean '/queries/energy_pj'?"));
  CHECK_THROWS_WITH(trace.read<double>("/queries/energy_pj", 2, 2), Contains("has 3 rows; asked for 2 from row 2"));
  CHECK_THROWS_WITH(trace.read<double>("/queries/energy_pj", -1, 1), Contains("has 3 rows"));
  CHECK_THROWS_WITH(trace.number_attribute("/queries/energy_pj", "t_s"), Contains("has no attribute 't_s'"));
}
