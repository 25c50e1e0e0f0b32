#include "base/npy.hpp"

#include <catch2/catch.hpp>
#include <filesystem>

#include "base/error.hpp"
#include "child_process.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::NpyArray;
using zbphw::NpyShape;
using zbphw::read_npy;

namespace {

const std::string python = "/usr/bin/python3";

bool has_numpy() {
  if (tool_works(python + " -c 'import numpy'")) return true;
  WARN("NumPy is not installed for /usr/bin/python3: not checked with it");
  return false;
}

// Two little-endian int16 values, 1 and -2.
const std::string two_int16("\1\0\xfe\xff", 4);

std::string npy_bytes(int version, const std::string& header, const std::string& data) {
  std::string bytes = "\x93NUMPY";
  bytes += char(version);
  bytes += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i) bytes += char(header.size() >> (8 * i));
  return bytes + header + data;
}

std::string header_of(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}

// A file of one header of version 1 and its data.
std::string npy_file(const ScratchDirectory& scratch, const std::string& header, const std::string& data = two_int16) {
  return scratch.file("a.npy", npy_bytes(1, header, data));
}

}  // namespace

TEST_CASE("versions 1, 2 and 3 are read") {
  const ScratchDirectory scratch;
  for (const int version : {1, 2, 3}) {
    const std::string path = scratch.file("a.npy", npy_bytes(version, header_of("<i2", "(2,)"), two_int16));
    const NpyArray<double> array = read_npy<double>(path);
    CHECK(array.shape == NpyShape{2});
    CHECK(array.values == std::vector<double>{1, -2});
  }
}

TEST_CASE("headers may be written in other ways") {
  const ScratchDirectory scratch;
  const std::string dense = R"({"shape":(1,2),"descr":"<i2","fortran_order":False})";
  CHECK(read_npy<double>(npy_file(scratch, dense)).shape == NpyShape{1, 2});
  CHECK(read_npy<double>(npy_file(scratch, header_of("<i4", "()"))).values == std::vector<double>{-131071});
  // The order of one dimension is both; NumPy says False, but others may not.
  CHECK(read_npy<double>(npy_file(scratch, header_of("<i2", "(2,)", "True"))).values.size() == 2);
  CHECK(read_npy<double>(npy_file(scratch, header_of("<i2", "(0, 3)"), "")).shape == NpyShape{0, 3});
}

TEST_CASE("what was written is read back") {
  const ScratchDirectory scratch;
  const double wide[] = {1.5, -0.1, 1e300, 0, 7, 8};
  zbphw::write_npy(scratch.path("d.npy"), {2, 3}, wide);
  CHECK(read_npy<double>(scratch.path("d.npy")).shape == NpyShape{2, 3});
  CHECK(read_npy<double>(scratch.path("d.npy")).values == std::vector<double>(wide, wide + 6));
  const float narrow[] = {0.1F};
  zbphw::write_npy(scratch.path("f.npy"), {}, narrow);
  CHECK(read_npy<float>(scratch.path("f.npy")).shape.empty());
  CHECK(read_npy<float>(scratch.path("f.npy")).values[0] == 0.1F);
  CHECK(std::filesystem::file_size(scratch.path("f.npy")) == 128 + 4);
}

TEST_CASE("an array larger than a block of reading comes back whole") {
  const ScratchDirectory scratch;
  std::vector<double> values(200001);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = double(i);
  zbphw::write_npy(scratch.path("a.npy"), {200001}, values.data());
  CHECK(read_npy<double>(scratch.path("a.npy")).values == values);
}

TEST_CASE("NumPy reads our files, and we read those of NumPy") {
  if (!has_numpy()) return;
  const ScratchDirectory scratch;
  const double values[] = {0, 0.5, 1, 1.5, 2, 2.5};
  zbphw::write_npy(scratch.path("ours.npy"), {3, 1, 2}, values);
  const std::int32_t integers[] = {-1, 7};
  zbphw::write_npy(scratch.path("int.npy"), {2}, integers);
  const ToolOutput read =
      run_tool(python + " -c 'import numpy as np, sys; a = np.load(sys.argv[1]); " +
               "assert a.shape == (3, 1, 2) and a.dtype == np.float64 and (a.ravel() == np.arange(6) / 2).all(); " +
               "b = np.load(sys.argv[2]); assert b.dtype == np.int32 and b.tolist() == [-1, 7]' " +
               scratch.path("ours.npy") + " " + scratch.path("int.npy"));
  CHECK(read.text.empty());
  CHECK(read.exit_code == 0);
  const std::vector<std::string> types = {"f8", "f4", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"};
  std::string names;
  for (const std::string& type : types) names += " " + type;
  const ToolOutput written = run_tool(
      python + " -c 'import numpy as np, sys; [np.save(sys.argv[1] + t, np.arange(12).reshape(3, 4).astype(t)) " +
      "for t in sys.argv[2:]]' " + scratch.path("numpy_") + names);
  REQUIRE(written.exit_code == 0);
  for (const std::string& type : types) {
    const NpyArray<float> array = read_npy<float>(scratch.path("numpy_" + type + ".npy"));
    INFO(type);
    CHECK(array.shape == NpyShape{3, 4});
    for (std::size_t i = 0; i < 12; ++i) CHECK(array.values.at(i) == float(i));
  }
}

TEST_CASE("arrays in Fortran order, big-endian or of other types are refused by name") {
  const ScratchDirectory scratch;
  const auto refused = [&](const std::string& header) { read_npy<double>(npy_file(scratch, header)); };
  CHECK_THROWS_WITH(refused(header_of("<i2", "(2, 1)", "True")), Contains("a.npy: is in Fortran order"));
  CHECK_THROWS_WITH(refused(header_of(">f8", "(2,)")), Contains("is big-endian ('>f8')"));
  CHECK_THROWS_WITH(refused(header_of("|O", "(2,)")), Contains("holds Python objects"));
  CHECK_THROWS_WITH(refused(header_of("<c16", "(2,)")), Contains("has the type '<c16'; allowed: float64"));
  CHECK_THROWS_WITH(refused(header_of("<U5", "(2,)")), Contains("has the type '<U5'"));
  CHECK_THROWS_WITH(refused(header_of("|b1", "(2,)")), Contains("has the type '|b1'"));
  CHECK_THROWS_WITH(refused(header_of("", "(2,)")), Contains("has the type ''"));
  CHECK_THROWS_WITH(refused("{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,)}"), Contains("records"));
}

TEST_CASE("files that are not arrays are refused") {
  const ScratchDirectory scratch;
  CHECK_THROWS_WITH(read_npy<double>(scratch.path("none.npy")), Contains("none.npy") && Contains("No such file"));
  CHECK_THROWS_WITH(read_npy<double>(scratch.path()), Contains("is a directory"));
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("e.npy", "")), Contains("e.npy: is not a .npy file"));
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("t.npy", "0.1 0.2\n0.3")), Contains("is not a .npy file"));
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("v.npy", npy_bytes(4, header_of("<i2", "(2,)"), two_int16))),
                    Contains("has .npy version 4.0"));
}

TEST_CASE("an array that is cut off anywhere, or too long, is refused") {
  const ScratchDirectory scratch;
  const std::string whole = npy_bytes(1, header_of("<i2", "(2,)"), two_int16);
  for (std::size_t size = 0; size < whole.size(); ++size) {
    CHECK_THROWS_AS(read_npy<double>(scratch.file("a.npy", whole.substr(0, size))), zbphw::Error);
  }
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("a.npy", whole.substr(0, 8))), Contains("is cut off"));
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("a.npy", whole.substr(0, whole.size() - 1))),
                    Contains("has 3 bytes of data; its shape [2] of '<i2' needs 4"));
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("a.npy", whole + "x")), Contains("has 5 bytes of data"));
}

TEST_CASE("shapes and headers beyond reason are refused before memory is taken") {
  const ScratchDirectory scratch;
  const auto refused = [&](const std::string& header) { read_npy<double>(npy_file(scratch, header)); };
  CHECK_THROWS_WITH(refused(header_of("<i2", "(1000000000000000,)")), Contains("needs 2000000000000000"));
  CHECK_THROWS_WITH(refused(header_of("<i2", "(4294967296, 4294967296)")), Contains("needs more than 2^63"));
  CHECK_THROWS_WITH(refused(header_of("<i2", "(99999999999999999999,)")), Contains("is too large"));
  const std::string huge = "\x93NUMPY" + std::string("\2\0\xff\xff\xff\xff", 6);
  CHECK_THROWS_WITH(read_npy<double>(scratch.file("h.npy", huge)), Contains("has a header of 4294967295 bytes"));
}

TEST_CASE("malformed headers say what is wrong") {
  const ScratchDirectory scratch;
  const auto refused = [&](const std::string& header) { read_npy<double>(npy_file(scratch, header)); };
  CHECK_THROWS_WITH(refused(""), Contains("malformed") && Contains("'{' is missing"));
  CHECK_THROWS_WITH(refused("{'descr': '<i2'"), Contains("',' or '}' is missing"));
  CHECK_THROWS_WITH(refused("{'descr': '<i2', }"), Contains("'fortran_order' or 'shape' is missing"));
  CHECK_THROWS_WITH(refused("{'descr': '<i2"), Contains("the type in quotes is missing"));
  CHECK_THROWS_WITH(refused("{descr: 1}"), Contains("a key in quotes is missing"));
  CHECK_THROWS_WITH(refused("{'shape' (2,)}"), Contains("':' is missing"));
  CHECK_THROWS_WITH(refused("{'other': 1}"), Contains("the key 'other' is unknown"));
  CHECK_THROWS_WITH(refused("{'shape': (1,), 'shape': (2,)}"), Contains("stands twice"));
  CHECK_THROWS_WITH(refused(header_of("<i2", "(2,)", "maybe")), Contains("neither True nor False"));
  CHECK_THROWS_WITH(refused(header_of("<i2", "(-2,)")), Contains("not a tuple of sizes"));
  CHECK_THROWS_WITH(refused(header_of("<i2", "(2 3)")), Contains("not a tuple of sizes"));
  CHECK_THROWS_WITH(refused(header_of("<i2", "(2,)") + "more"), Contains("more after its '}'"));
}

TEST_CASE("a shape that does not fit is refused with both shapes") {
  CHECK_NOTHROW(zbphw::require_shape("w.npy", {3, 4}, {3, 4}));
  CHECK_NOTHROW(zbphw::require_shape("w.npy", {7, 4}, {-1, 4}));
  CHECK_THROWS_WITH(zbphw::require_shape("w.npy", {3, 4}, {-1, 256}), "w.npy: has shape [3, 4]; allowed: [any, 256]");
  CHECK_THROWS_WITH(zbphw::require_shape("w.npy", {3}, {3, 1}), "w.npy: has shape [3]; allowed: [3, 1]");
}

TEST_CASE("an array that was not completed does not appear") {
  const ScratchDirectory scratch;
  const double value = 1;
  {
    zbphw::NpyWriter<double> writer(scratch.path("a.npy"), {2});
    writer.write(&value, 1);
    CHECK_THROWS_WITH(writer.commit(), Contains("a.npy: lacks 1 of its values"));
    writer.write(&value, 1);
    CHECK_THROWS_WITH(writer.write(&value, 1), Contains("more values than its shape"));
  }
  CHECK_FALSE(std::filesystem::exists(scratch.path("a.npy")));
}
