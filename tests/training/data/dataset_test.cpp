#include "training/data/dataset.hpp"

#include <catch2/catch.hpp>
#include <cmath>
#include <filesystem>

#include "base/error.hpp"
#include "scratch_directory.hpp"
#include "training/data/text_file.hpp"

using Catch::Contains;
using zbphw::DataConfig;
using zbphw::Dataset;
using zbphw::load_dataset;

namespace {

DataConfig config_of(const std::string& path, std::int64_t validation_tokens) {
  DataConfig config;
  config.path = path;
  config.validation_tokens = validation_tokens;
  return config;
}

std::string text_of(const zbphw::TokenSequence& tokens, const Dataset& data) {
  std::vector<std::int64_t> wide(static_cast<std::size_t>(tokens.size()));
  tokens.copy(0, tokens.size(), wide.data());
  return data.tokenizer.decode(std::vector<std::int32_t>(wide.begin(), wide.end()));
}

}  // namespace

TEST_CASE("the end of the text is kept for validation") {
  const ScratchDirectory scratch;
  const Dataset data = load_dataset(config_of(scratch.file("a.txt",
                                                           "abababcc"
                                                           "cab"),
                                              3),
                                    2);
  CHECK(text_of(*data.train, data) == "abababcc");
  CHECK(text_of(*data.validation, data) == "cab");
  // Three a, three b and two c of eight.
  CHECK(data.unigram_entropy == Approx(-0.75 * std::log(3.0 / 8) - 0.25 * std::log(2.0 / 8)));
}

TEST_CASE("the fingerprint changes with the text, its symbols and the split") {
  const ScratchDirectory scratch;
  const auto fingerprint = [&](const std::string& text, std::int64_t validation_tokens) {
    return load_dataset(config_of(scratch.file("f.txt", text), validation_tokens), 2).fingerprint;
  };
  const std::string base = fingerprint("abcabcabc", 3);
  CHECK(base.size() == 16);
  CHECK(fingerprint("abcabcabc", 3) == base);
  CHECK(fingerprint("abcabcacb", 3) != base);
  CHECK(fingerprint("abdabdabd", 3) != base);  // the same tokens
  CHECK(fingerprint("abcabcabc", 4) != base);
}

TEST_CASE("texts that cannot be trained on are refused") {
  const ScratchDirectory scratch;
  CHECK_THROWS_WITH(load_dataset(config_of(scratch.path("none.txt"), 3), 2), Contains("none.txt"));
  CHECK_THROWS_WITH(load_dataset(config_of(scratch.file("e.txt", ""), 3), 2), Contains("e.txt: is empty"));
  CHECK_THROWS_WITH(load_dataset(config_of(scratch.file("s.txt", "abcde"), 3), 2),
                    Contains("s.txt: has 5 tokens; needed: at least 6"));
  CHECK_THROWS_WITH(load_dataset(config_of(scratch.file("v.txt", "abcdefghij"), 3), 3),
                    Contains("data.validation_tokens: got 3; allowed: at least 4"));
  CHECK_THROWS_WITH(load_dataset(config_of(scratch.file("u.txt",
                                                        "ab\xff"
                                                        "cdefg"),
                                           3),
                                 2),
                    Contains("u.txt: is not valid UTF-8 at line 1 (byte 2)"));
}

// Counted once with Python 3.11 (gzip, collections.Counter) on version 4.4.7-4.1 of the Debian package.
TEST_CASE("the Debian package jargon-text has its known symbols and entropy") {
  const std::string path = "/usr/share/doc/jargon-text/jargon.txt.gz";
  if (!std::filesystem::exists(path)) {
    WARN("skipped: " << path << " is missing (Debian package jargon-text)");
    return;
  }
  const std::string text = zbphw::read_text_file(path);
  CHECK(text.size() == 1681817);
  const zbphw::CharTokenizer tokenizer(zbphw::TextUnit::characters, text, path);
  CHECK(tokenizer.vocab() == 155);
  const zbphw::TokenVector tokens(tokenizer.encode(text, path));
  CHECK(tokens.size() == 1618757);
  CHECK(zbphw::unigram_entropy(tokens, tokenizer.vocab()) == Approx(3.259425568646666).epsilon(1e-12));
}
