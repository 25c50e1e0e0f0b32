#include "experiments/trace_export.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/npy.hpp"
#include "base/trace_writer.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::export_series;
using zbphw::Hdf5Type;
using zbphw::TraceReader;
using zbphw::TraceWriter;

namespace {

std::string write_trace(const ScratchDirectory& scratch) {
  TraceWriter trace(scratch.path("t.h5"), {"simulate", "0.1.0", 1, "{}", ""});
  const auto scalar = trace.add_series({"/queries/energy_pj", "pJ", "energy", {}});
  const auto matrix = trace.add_series({"/tiles/0/target_us", "uS", "target", {2, 2}, Hdf5Type::float32});
  const auto flags = trace.add_series({"/queries/saturated", "1", "flag", {}, Hdf5Type::uint8});
  const auto large = trace.add_series({"/queries/tag", "1", "tag", {}, Hdf5Type::int64});
  const double energies[] = {0.1, -2, 1e300};
  const float targets[] = {1, 0.1F, 3, 4, 5, 6, 7, 8};
  const std::uint8_t saturated[] = {0, 65, 255};
  const std::int64_t tags[] = {INT64_MIN, INT64_MAX};
  trace.append(scalar, energies, 3);
  trace.append(matrix, targets, 2);
  trace.append(flags, saturated, 3);
  trace.append(large, tags, 2);
  trace.finish();
  return scratch.path("t.h5");
}

std::string csv_of(const ScratchDirectory& scratch, const std::string& data_set) {
  export_series(TraceReader(scratch.path("t.h5")), data_set, scratch.path("out.csv"));
  return file_text(scratch.path("out.csv"));
}

}  // namespace

TEST_CASE("CSV has a line of names and digits that give the same number again") {
  const ScratchDirectory scratch;
  write_trace(scratch);
  CHECK(csv_of(scratch, "/queries/energy_pj") == "row,value\n0,0.1\n1,-2\n2,1e+300\n");
  CHECK(csv_of(scratch, "/tiles/0/target_us") == "row,0_0,0_1,1_0,1_1\n0,1,0.1,3,4\n1,5,6,7,8\n");
  CHECK(csv_of(scratch, "/queries/saturated") == "row,value\n0,0\n1,65\n2,255\n");
  CHECK(csv_of(scratch, "/queries/tag") == "row,value\n0,-9223372036854775808\n1,9223372036854775807\n");
}

TEST_CASE(".npy keeps shape and type") {
  const ScratchDirectory scratch;
  const TraceReader trace(write_trace(scratch));
  export_series(trace, "/tiles/0/target_us", scratch.path("a.npy"));
  const zbphw::NpyArray<float> array = zbphw::read_npy<float>(scratch.path("a.npy"));
  CHECK(array.shape == zbphw::NpyShape{2, 2, 2});
  CHECK(array.values == std::vector<float>{1, 0.1F, 3, 4, 5, 6, 7, 8});
  CHECK(file_text(scratch.path("a.npy")).find("'<f4'") != std::string::npos);
  export_series(trace, "/queries/tag", scratch.path("b.npy"));
  CHECK(file_text(scratch.path("b.npy")).find("'<i8'") != std::string::npos);
}

TEST_CASE("what cannot be exported is refused") {
  const ScratchDirectory scratch;
  const TraceReader trace(write_trace(scratch));
  CHECK_THROWS_WITH(export_series(trace, "/queries/energy_pj", scratch.path("a.txt")), Contains(".npy or .csv"));
  CHECK_THROWS_WITH(export_series(trace, "/queries/energy", scratch.path("a.csv")),
                    Contains("no data set /queries/energy; did you mean '/queries/energy_pj'?"));
  CHECK_THROWS_WITH(export_series(trace, "/queries/energy_pj", scratch.path("none/a.csv")), Contains("No such file"));
  CHECK_FALSE(std::filesystem::exists(scratch.path("a.csv")));
}
