#include "training/safetensors.hpp"

#include <ATen/TensorOperators.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/zeros.h>

#include <catch2/catch.hpp>

#include "base/error.hpp"
#include "scratch_directory.hpp"

using Catch::Contains;
using zbphw::read_safetensors;
using zbphw::write_safetensors;

namespace {

// A file made by hand from the format's description: header length, header, data.
std::string bytes_of(const std::string& header, const std::string& data) {
  std::string bytes;
  for (int shift = 0; shift < 64; shift += 8) bytes += static_cast<char>((header.size() >> shift) & 0xFF);
  return bytes + header + data;
}

}  // namespace

TEST_CASE("tensors of every type survive the round trip, views in C order") {
  const ScratchDirectory scratch;
  const at::Tensor base = at::arange(12, at::kDouble).view({3, 4});
  zbphw::NamedTensors tensors = {{"transposed", base.t()}, {"scalar", base[1][2]}, {"none", at::zeros({0, 5})}};
  for (const at::ScalarType type :
       {at::kFloat, at::kHalf, at::kBFloat16, at::kLong, at::kInt, at::kShort, at::kChar, at::kByte, at::kBool}) {
    tensors.emplace_back(c10::toString(type), base.to(type));
  }
  write_safetensors(scratch.path("a"), tensors, {{"format", "pt"}});
  const zbphw::TensorFile file = read_safetensors(scratch.path("a"));
  CHECK(file.metadata.at("format") == "pt");
  CHECK(file.tensors.size() == tensors.size());
  for (const auto& [name, tensor] : tensors) {
    INFO(name);
    CHECK(file.tensors.at(name).scalar_type() == tensor.scalar_type());
    CHECK(at::equal(file.tensors.at(name), tensor));
  }
}

TEST_CASE("the bytes are those of the format") {
  const ScratchDirectory scratch;
  write_safetensors(scratch.path("a"), {{"w", at::arange(2, at::kInt).view({2, 1})}});
  const std::string header = R"({"w":{"dtype":"I32","shape":[2,1],"data_offsets":[0,8]}})";
  REQUIRE(header.size() % 8 == 0);  // no padding here
  CHECK(file_text(scratch.path("a")) == bytes_of(header, std::string("\0\0\0\0\1\0\0\0", 8)));
}

TEST_CASE("a file written by hand, with spaces after its header, is read") {
  const ScratchDirectory scratch;
  const std::string header =
      R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[1,3]},"a":{"dtype":"U8","shape":[],"data_offsets":[0,1]}}   )";
  const zbphw::TensorFile file = read_safetensors(scratch.file("a", bytes_of(header, "\x07\x08\x09")));
  CHECK(file.tensors.at("a").item<int>() == 7);
  CHECK(file.tensors.at("b")[1].item<int>() == 9);
}

TEST_CASE("damaged files are refused by name and reason") {
  const ScratchDirectory scratch;
  const auto refusal = [&](const std::string& bytes) {
    try {
      read_safetensors(scratch.file("bad", bytes));
    } catch (const zbphw::Error& error) {
      CHECK(error.kind() == zbphw::ErrorKind::data);
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  const std::string good = R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[0,2]}})";
  CHECK(refusal(bytes_of(good, "ab")) == "accepted");
  CHECK_THAT(refusal(bytes_of(good, "a")), Contains("bad: ends early"));
  CHECK_THAT(refusal(bytes_of(good, "abc")), Contains("is too long"));
  CHECK_THAT(refusal("abc"), Contains("too short"));
  CHECK_THAT(refusal(bytes_of(good, "ab").substr(0, 20)), Contains("ends early"));
  CHECK_THAT(refusal(bytes_of("[1]", "")), Contains("not a JSON object"));
  CHECK_THAT(refusal(bytes_of("{\"a\": \xff}", "")), Contains("not a JSON object"));
  CHECK_THAT(refusal(bytes_of(R"({"w":{"dtype":"U8","shape":[2]}})", "ab")), Contains("'w' lacks"));
  CHECK_THAT(refusal(bytes_of(R"({"w":{"dtype":"U8","shape":[-2],"data_offsets":[0,2]}})", "ab")),
             Contains("'w' lacks"));
  CHECK_THAT(refusal(bytes_of(R"({"w":{"dtype":"Q4","shape":[2],"data_offsets":[0,2]}})", "ab")), Contains("type Q4"));
  CHECK_THAT(refusal(bytes_of(R"({"w":{"dtype":"F32","shape":[2],"data_offsets":[0,2]}})", "ab")),
             Contains("do not fit its shape"));
  CHECK_THAT(refusal(bytes_of(R"({"w":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})", "")),
             Contains("do not fit its shape"));
  CHECK_THAT(refusal(bytes_of(R"({"w":{"dtype":"U8","shape":[2],"data_offsets":[1,3]}})", "abc")), Contains("gap"));
  CHECK_THAT(refusal(bytes_of(R"({"__metadata__":{"a":1}})", "")), Contains("metadata"));
  CHECK_THROWS_WITH(read_safetensors(scratch.path("none")), Contains("none: cannot be opened"));
  CHECK_THROWS_WITH(read_safetensors(scratch.path()), Contains("is a directory"));
}
