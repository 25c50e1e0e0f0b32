#include "training/safetensors.hpp"

#include <ATen/ops/empty.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/json.hpp"

namespace zbphw {
namespace {

const std::vector<std::pair<std::string, at::ScalarType>>& type_names() {
  static const std::vector<std::pair<std::string, at::ScalarType>> names = {
      {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf}, {"BF16", at::kBFloat16}, {"I64", at::kLong},
      {"I32", at::kInt},    {"I16", at::kShort}, {"I8", at::kChar},  {"U8", at::kByte},       {"BOOL", at::kBool}};
  return names;
}

std::string type_name(at::ScalarType type, const std::string& path) {
  for (const auto& [name, known] : type_names()) {
    if (known == type) return name;
  }
  throw data_error(path, std::string("cannot hold values of type ") + c10::toString(type));
}

// One tensor's place in the file.
struct Entry {
  std::string name;
  at::ScalarType type = at::kFloat;
  std::vector<std::int64_t> shape;
  std::uint64_t begin = 0;  // of the data section
  std::uint64_t end = 0;
};

// The bytes of a tensor of `shape`, or a value that no file has when the product overflows.
std::uint64_t bytes_of(const std::vector<std::int64_t>& shape, at::ScalarType type) {
  constexpr std::uint64_t limit = 1ULL << 60;
  std::uint64_t bytes = c10::elementSize(type);
  for (const std::int64_t n : shape) {
    if (n < 0) return limit;
    if (n > 0 && bytes > limit / static_cast<std::uint64_t>(n)) return limit;
    bytes *= static_cast<std::uint64_t>(n);
  }
  return bytes;
}

class Reader {
 public:
  explicit Reader(const std::string& path) : path_(path), in_(path, std::ios::binary) {
    if (std::filesystem::is_directory(path)) throw data_error(path, "is a directory; allowed: a safetensors file");
    if (!in_) throw data_error(path, std::string("cannot be opened: ") + std::strerror(errno));
    size_ = std::filesystem::file_size(path);
  }

  TensorFile read() {
    TensorFile file;
    const std::vector<Entry> entries = read_header(file.metadata);
    for (const Entry& entry : entries) {
      const at::Tensor tensor = at::empty(entry.shape, at::TensorOptions().dtype(entry.type));
      const std::streamsize bytes = static_cast<std::streamsize>(entry.end - entry.begin);
      in_.seekg(static_cast<std::streamoff>(data_start_ + entry.begin));
      if (bytes > 0 && !in_.read(static_cast<char*>(tensor.data_ptr()), bytes)) refuse("cannot be read to its end");
      file.tensors.emplace(entry.name, tensor);
    }
    return file;
  }

 private:
  [[noreturn]] void refuse(const std::string& reason) const { throw data_error(path_, reason); }

  std::vector<Entry> read_header(std::map<std::string, std::string>& metadata) {
    unsigned char prefix[8];
    if (!in_.read(reinterpret_cast<char*>(prefix), 8)) refuse("is too short for a safetensors file");
    std::uint64_t length = 0;
    for (int i = 7; i >= 0; --i) length = (length << 8) | prefix[i];
    if (length > size_ - 8) refuse("is not a safetensors file, or ends early: its header would not fit");
    data_start_ = 8 + length;
    std::string text(static_cast<std::size_t>(length), '\0');
    if (!in_.read(text.data(), static_cast<std::streamsize>(length))) refuse("cannot be read to its end");
    const Json header = Json::parse(text, nullptr, false);
    if (!header.is_object()) refuse("has a header that is not a JSON object");
    std::vector<Entry> entries;
    for (const auto& [name, value] : header.items()) {
      if (name == "__metadata__") {
        read_metadata(value, metadata);
      } else {
        entries.push_back(read_entry(name, value));
      }
    }
    check_layout(entries);
    return entries;
  }

  void read_metadata(const Json& json, std::map<std::string, std::string>& metadata) const {
    if (!json.is_object()) refuse("has metadata that is not an object of texts");
    for (const auto& [key, value] : json.items()) {
      if (!value.is_string()) refuse("has metadata that is not an object of texts");
      metadata[key] = value.get<std::string>();
    }
  }

  Entry read_entry(const std::string& name, const Json& json) const {
    const auto unsigned_list = [](const Json& list) {
      return list.is_array() &&
             std::all_of(list.begin(), list.end(), [](const Json& n) { return n.is_number_unsigned(); });
    };
    const bool complete = json.is_object() && json.contains("dtype") && json["dtype"].is_string() &&
                          json.contains("shape") && unsigned_list(json["shape"]) && json.contains("data_offsets") &&
                          unsigned_list(json["data_offsets"]) && json["data_offsets"].size() == 2;
    if (!complete) refuse("tensor '" + name + "' lacks a type, a shape or its offsets");
    Entry entry;
    entry.name = name;
    const std::string type = json["dtype"].get<std::string>();
    const auto& known = type_names();
    const auto found = std::find_if(known.begin(), known.end(), [&](const auto& pair) { return pair.first == type; });
    if (found == known.end()) refuse("tensor '" + name + "' has the unknown type " + type);
    entry.type = found->second;
    entry.shape = json["shape"].get<std::vector<std::int64_t>>();
    entry.begin = json["data_offsets"][0].get<std::uint64_t>();
    entry.end = json["data_offsets"][1].get<std::uint64_t>();
    if (entry.end < entry.begin || entry.end - entry.begin != bytes_of(entry.shape, entry.type)) {
      refuse("tensor '" + name + "' has offsets that do not fit its shape");
    }
    return entry;
  }

  void check_layout(std::vector<Entry> entries) const {
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::make_pair(a.begin, a.end) < std::make_pair(b.begin, b.end);
    });
    std::uint64_t next = 0;
    for (const Entry& entry : entries) {
      if (entry.begin != next) refuse("tensor '" + entry.name + "' overlaps another or leaves a gap");
      next = entry.end;
    }
    const std::uint64_t expected = data_start_ + next;
    if (size_ != expected) {
      refuse((size_ < expected ? "ends early: " : "is too long: ") + std::to_string(size_) + " bytes instead of " +
             std::to_string(expected));
    }
  }

  std::string path_;
  std::ifstream in_;
  std::uint64_t size_ = 0;
  std::uint64_t data_start_ = 0;
};

std::string header_text(const std::string& path, const NamedTensors& tensors,
                        const std::map<std::string, std::string>& metadata) {
  Json header = Json::object();
  if (!metadata.empty()) header["__metadata__"] = metadata;
  std::uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const std::uint64_t end = offset + tensor.nbytes();
    header[name] = {{"dtype", type_name(tensor.scalar_type(), path)},
                    {"shape", tensor.sizes().vec()},
                    {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // aligns the data for readers that map the file
  return text;
}

}  // namespace

void write_safetensors(const std::string& path, const NamedTensors& tensors,
                       const std::map<std::string, std::string>& metadata) {
  const std::string header = header_text(path, tensors, metadata);
  std::string prefix;
  for (int shift = 0; shift < 64; shift += 8) {
    prefix += static_cast<char>((static_cast<std::uint64_t>(header.size()) >> shift) & 0xFF);
  }
  AtomicFile file(path);
  file.write(prefix);
  file.write(header);
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor values = tensor.detach().cpu().contiguous();
    file.write({static_cast<const char*>(values.data_ptr()), values.nbytes()});
  }
  file.commit();
}

TensorFile read_safetensors(const std::string& path) { return Reader(path).read(); }

}  // namespace zbphw
