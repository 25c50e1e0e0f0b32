#include "base/hdf5_file.hpp"

#include <catch2/catch.hpp>
#include <numeric>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::Hdf5DataSet;
using zbphw::Hdf5File;
using zbphw::Hdf5Type;

TEST_CASE("rows of every type come back as they were written") {
  const ScratchDirectory scratch;
  const std::vector<double> f64 = {1.5, -2.25, 1e300, 0, 5, 6};
  const std::vector<float> f32 = {0.1F, -2};
  const std::vector<std::int64_t> i64 = {INT64_MIN, INT64_MAX};
  const std::vector<std::int32_t> i32 = {-7, INT32_MAX};
  const std::vector<std::uint8_t> u8 = {0, 255};
  {
    Hdf5File file = Hdf5File::create(scratch.path("a.h5"));
    file.create_data_set("/g/f64", {Hdf5Type::float64, {3}, 4}).append(f64.data(), 2);
    file.create_data_set("/f32", {Hdf5Type::float32, {}, 4}).append(f32.data(), 2);
    file.create_data_set("/i64", {Hdf5Type::int64, {}, 4}).append(i64.data(), 2);
    file.create_data_set("/i32", {Hdf5Type::int32, {1, 1}, 4}).append(i32.data(), 2);
    file.create_data_set("/u8", {Hdf5Type::uint8, {}, 4}).append(u8.data(), 2);
    file.close();
  }
  const Hdf5File file = Hdf5File::open(scratch.path("a.h5"));
  CHECK(file.data_set_paths() == std::vector<std::string>{"/f32", "/g/f64", "/i32", "/i64", "/u8"});
  std::vector<double> f64_back(6);
  const Hdf5DataSet set = file.data_set("/g/f64");
  CHECK(set.rows() == 2);
  CHECK(set.row_shape() == std::vector<std::int64_t>{3});
  CHECK(set.chunk_rows() == 4);
  set.read(0, 2, f64_back.data());
  CHECK(f64_back == f64);
  std::vector<float> f32_back(2);
  file.data_set("/f32").read(0, 2, f32_back.data());
  CHECK(f32_back == f32);
  std::vector<std::int64_t> i64_back(2);
  file.data_set("/i64").read(0, 2, i64_back.data());
  CHECK(i64_back == i64);
  std::vector<std::int32_t> i32_back(2);
  file.data_set("/i32").read(0, 2, i32_back.data());
  CHECK(i32_back == i32);
  CHECK(file.data_set("/i32").row_shape() == std::vector<std::int64_t>{1, 1});
  std::vector<double> u8_as_double(1);
  file.data_set("/u8").read(1, 1, u8_as_double.data());
  CHECK(u8_as_double[0] == 255);
}

TEST_CASE("a data set grows over many chunks and is read in any window") {
  const ScratchDirectory scratch;
  Hdf5File file = Hdf5File::create(scratch.path("a.h5"));
  Hdf5DataSet set = file.create_data_set("/x", {Hdf5Type::float64, {2}, 3});
  for (int row = 0; row < 20; ++row) {
    const double values[] = {1.0 * row, -1.0 * row};
    set.append(values, 1);
  }
  std::vector<double> window(10);
  set.read(4, 5, window.data());
  CHECK(window == std::vector<double>{4, -4, 5, -5, 6, -6, 7, -7, 8, -8});
  CHECK_THROWS_WITH(set.read(18, 3, window.data()), Contains("/x has 20 rows") && Contains("18 to 21"));
  CHECK_THROWS_WITH(set.read(-1, 1, window.data()), Contains("/x has 20 rows"));
}

TEST_CASE("attributes hold texts of any length, numbers and integers") {
  const ScratchDirectory scratch;
  const std::string large(1 << 20, 'x');
  {
    Hdf5File file = Hdf5File::create(scratch.path("a.h5"));
    file.create_group("/tiles/0");
    file.set_text("/", "device", "µS \"a\"\nline");
    file.set_text("/", "empty", "");
    file.set_text("/", "large", large);
    file.set_number("/tiles/0", "t_s", 0.1);
    file.set_integer("/", "seed", UINT64_MAX);
    file.set_integers("/", "list", {3, 1, UINT64_MAX});
    file.close();
  }
  const Hdf5File file = Hdf5File::open(scratch.path("a.h5"));
  CHECK(file.text("/", "device") == "µS \"a\"\nline");
  CHECK(file.text("/", "empty").empty());
  CHECK(file.text("/", "large") == large);
  CHECK(file.number("/tiles/0", "t_s") == 0.1);
  CHECK(file.integer("/", "seed") == UINT64_MAX);
  CHECK(file.integers("/", "list") == std::vector<std::uint64_t>{3, 1, UINT64_MAX});
  CHECK(file.has_attribute("/", "seed"));
  CHECK_FALSE(file.has_attribute("/", "other"));
  CHECK_THROWS_WITH(file.text("/", "other"), Contains("a.h5") && Contains("/ has no attribute 'other'"));
  CHECK_THROWS_WITH(file.text("/", "seed"), Contains("attribute seed has another type"));
  CHECK_THROWS_WITH(file.integer("/", "list"), Contains("attribute list has another type or shape"));
  CHECK_THROWS_WITH(file.number("/", "seed"), Contains("attribute seed has another type"));
}

TEST_CASE("files that cannot be opened are data errors of one line") {
  const ScratchDirectory scratch;
  CHECK_THROWS_WITH(Hdf5File::open(scratch.path("none.h5")), Contains("none.h5") && Contains("No such file"));
  CHECK_THROWS_WITH(Hdf5File::open(scratch.path()), Contains("is a directory"));
  CHECK_THROWS_WITH(Hdf5File::create(scratch.path()), Contains("is a directory"));
  CHECK_THROWS_WITH(Hdf5File::open(scratch.file("t.h5", "just a text")), Contains("t.h5") && Contains("signature"));
  CHECK_THROWS_WITH(Hdf5File::open(scratch.file("e.h5", "")), Contains("e.h5") && Contains("signature"));
  CHECK_THROWS_WITH(Hdf5File::create(scratch.path("none/a.h5")), Contains("none/a.h5") && Contains("No such file"));
  CHECK_THROWS_WITH(Hdf5File::create(scratch.path("t.h5")), Contains("t.h5") && Contains("exists"));
  try {
    Hdf5File::open(scratch.path("t.h5"));
  } catch (const zbphw::Error& error) {
    CHECK(error.kind() == zbphw::ErrorKind::data);
    CHECK(error.message().find('\n') == std::string::npos);
  }
}

TEST_CASE("objects that are missing or of another kind are named") {
  const ScratchDirectory scratch;
  Hdf5File file = Hdf5File::create(scratch.path("a.h5"));
  file.create_group("/g");
  CHECK(file.exists("/g"));
  CHECK_FALSE(file.exists("/g/x/y"));
  CHECK_THROWS_WITH(file.data_set("/g/x"), Contains("a.h5: /g/x cannot be opened"));
  CHECK_THROWS_WITH(file.data_set("/g"), Contains("/g cannot be opened"));
  CHECK_THROWS_WITH(file.create_group("/g"), Contains("/g cannot be created"));
}
