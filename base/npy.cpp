#include "base/npy.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <optional>
#include <string_view>

#include "base/error.hpp"

namespace zbphw {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);
// NumPy itself refuses headers above 10 000 bytes unless told otherwise.
constexpr std::uint32_t most_header_bytes = 65536;
constexpr std::size_t alignment = 64;
constexpr const char* allowed_types = "float64, float32, int8 to int64 or uint8 to uint64, little-endian";

struct Header {
  std::string type;
  bool fortran_order = false;
  NpyShape shape;
};

// Reads the header's text, a Python dictionary of three entries:
//     {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }
class HeaderParser {
 public:
  HeaderParser(const std::string& path, std::string_view text) : path_(path), text_(text) {}

  Header parse() {
    Header header;
    bool has_type = false;
    bool has_order = false;
    bool has_shape = false;
    expect('{');
    while (!take('}')) {
      const std::string key = quoted("a key");
      expect(':');
      if (key == "descr" && !has_type) {
        header.type = type();
        has_type = true;
      } else if (key == "fortran_order" && !has_order) {
        header.fortran_order = boolean();
        has_order = true;
      } else if (key == "shape" && !has_shape) {
        header.shape = shape();
        has_shape = true;
      } else {
        malformed("the key '" + key + "' is unknown or stands twice");
      }
      if (!take(',') && !peek('}')) malformed("',' or '}' is missing");
    }
    skip_spaces();
    if (at_ != text_.size()) malformed("there is more after its '}'");
    if (!has_type || !has_order || !has_shape) malformed("'descr', 'fortran_order' or 'shape' is missing");
    return header;
  }

 private:
  [[noreturn]] void malformed(const std::string& what) const {
    throw data_error(path_, "has a malformed .npy header: " + what);
  }

  void skip_spaces() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }

  bool peek(char wanted) {
    skip_spaces();
    return at_ < text_.size() && text_[at_] == wanted;
  }

  bool take(char wanted) {
    if (!peek(wanted)) return false;
    ++at_;
    return true;
  }

  void expect(char wanted) {
    if (!take(wanted)) malformed(std::string("'") + wanted + "' is missing");
  }

  bool take_word(std::string_view word) {
    skip_spaces();
    if (text_.substr(at_, word.size()) != word) return false;
    at_ += word.size();
    return true;
  }

  std::string quoted(const char* what) {
    skip_spaces();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) malformed(std::string(what) + " in quotes is missing");
    const std::string_view inside = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return std::string(inside);
  }

  std::string type() {
    if (peek('[')) throw data_error(path_, std::string("holds records; allowed: ") + allowed_types);
    return quoted("the type");
  }

  bool boolean() {
    if (take_word("True")) return true;
    if (take_word("False")) return false;
    malformed("'fortran_order' is neither True nor False");
  }

  NpyShape shape() {
    NpyShape sizes;
    expect('(');
    while (!take(')')) {
      sizes.push_back(size());
      if (!take(',') && !peek(')')) malformed("the shape is not a tuple of sizes");
    }
    return sizes;
  }

  std::int64_t size() {
    skip_spaces();
    std::int64_t value = 0;
    const std::size_t start = at_;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      if (value > (std::numeric_limits<std::int64_t>::max() - 9) / 10) malformed("a size in its shape is too large");
      value = value * 10 + (text_[at_] - '0');
    }
    if (at_ == start) malformed("the shape is not a tuple of sizes");
    return value;
  }

  const std::string& path_;
  std::string_view text_;
  std::size_t at_ = 0;
};

// The number of values, or nothing when their bytes do not fit in 63 bits.
std::optional<std::uint64_t> values_of(const NpyShape& shape, std::size_t value_bytes) {
  std::uint64_t limit = std::numeric_limits<std::int64_t>::max() / value_bytes;
  if (std::find(shape.begin(), shape.end(), 0) != shape.end()) return 0;
  std::uint64_t count = 1;
  for (const std::int64_t size : shape) {
    if (static_cast<std::uint64_t>(size) > limit / count) return std::nullopt;
    count *= static_cast<std::uint64_t>(size);
  }
  return count;
}

std::string read_bytes(std::ifstream& in, const std::string& path, std::size_t size, const char* what) {
  std::string bytes(size, '\0');
  in.read(bytes.data(), static_cast<std::streamsize>(size));
  if (!in) throw data_error(path, std::string("is cut off: it ends in ") + what);
  return bytes;
}

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = (value << 8) | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::ifstream open_file(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) throw data_error(path, "is a directory; allowed: a .npy file");
  std::ifstream in(path, std::ios::binary);
  if (!in) throw data_error(path, std::string("cannot be opened: ") + std::strerror(errno));
  return in;
}

Header read_header(std::ifstream& in, const std::string& path) {
  std::string start(magic.size(), '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  if (!in || start != magic) throw data_error(path, "is not a .npy file (it does not start with \\x93NUMPY)");
  const std::string version = read_bytes(in, path, 2, "its version");
  const int major = static_cast<unsigned char>(version[0]);
  if (major < 1 || major > 3 || version[1] != 0) {
    throw data_error(path, "has .npy version " + std::to_string(major) + "." +
                               std::to_string(static_cast<unsigned char>(version[1])) + "; allowed: 1.0, 2.0 or 3.0");
  }
  const std::uint32_t size = little_endian(read_bytes(in, path, major == 1 ? 2 : 4, "the size of its header"));
  if (size > most_header_bytes) {
    throw data_error(path, "has a header of " + std::to_string(size) + " bytes; allowed: up to " +
                               std::to_string(most_header_bytes));
  }
  const std::string text = read_bytes(in, path, size, "its header");
  return HeaderParser(path, text).parse();
}

// What one stored type needs to become T.
template <class T>
struct Conversion {
  std::size_t bytes = 0;
  void (*convert)(const char* from, std::size_t count, T* to) = nullptr;
};

template <class From, class T>
void convert_values(const char* from, std::size_t count, T* to) {
  for (std::size_t i = 0; i < count; ++i) {
    From value;
    std::memcpy(&value, from + i * sizeof value, sizeof value);
    to[i] = static_cast<T>(value);
  }
}

template <class From, class T>
Conversion<T> conversion() {
  return {sizeof(From), convert_values<From, T>};
}

template <class T>
Conversion<T> conversion_of(const std::string& path, const std::string& type) {
  const std::string name = type.substr(std::min<std::size_t>(1, type.size()));
  const char order = type.empty() ? '\0' : type[0];
  if (order == '>') throw data_error(path, "is big-endian ('" + type + "'); allowed: " + allowed_types);
  if (name == "O") throw data_error(path, std::string("holds Python objects; allowed: ") + allowed_types);
  // A single byte has no order, which NumPy writes as '|'.
  if (order == '<' || order == '|') {
    if (name == "i1") return conversion<std::int8_t, T>();
    if (name == "u1") return conversion<std::uint8_t, T>();
  }
  if (order == '<') {
    if (name == "f8") return conversion<double, T>();
    if (name == "f4") return conversion<float, T>();
    if (name == "i8") return conversion<std::int64_t, T>();
    if (name == "i4") return conversion<std::int32_t, T>();
    if (name == "i2") return conversion<std::int16_t, T>();
    if (name == "u8") return conversion<std::uint64_t, T>();
    if (name == "u4") return conversion<std::uint32_t, T>();
    if (name == "u2") return conversion<std::uint16_t, T>();
  }
  throw data_error(path, "has the type '" + type + "'; allowed: " + allowed_types);
}

std::string header_text(const char* type, const NpyShape& shape) {
  std::string sizes;
  for (const std::int64_t size : shape) sizes += std::to_string(size) + ", ";
  if (shape.size() > 1) sizes.resize(sizes.size() - 2);
  std::string text = std::string("{'descr': '") + type + "', 'fortran_order': False, 'shape': (" + sizes + "), }";
  // Up to the data stand the magic text, two bytes of version, two of size and the header, padded for alignment.
  const std::size_t before = magic.size() + 4;
  const std::size_t whole = (before + text.size() + 1 + alignment - 1) / alignment * alignment;
  text.resize(whole - before - 1, ' ');
  return text + "\n";
}

}  // namespace

std::string shape_text(const NpyShape& shape) {
  std::string text;
  for (const std::int64_t size : shape) text += (text.empty() ? "" : ", ") + (size < 0 ? "any" : std::to_string(size));
  return "[" + text + "]";
}

void require_shape(const std::string& path, const NpyShape& shape, const NpyShape& expected) {
  const auto fits = [](std::int64_t size, std::int64_t wanted) { return wanted < 0 || size == wanted; };
  if (std::equal(shape.begin(), shape.end(), expected.begin(), expected.end(), fits)) return;
  throw data_error(path, "has shape " + shape_text(shape) + "; allowed: " + shape_text(expected));
}

template <class T>
NpyArray<T> read_npy(const std::string& path) {
  std::ifstream in = open_file(path);
  const Header header = read_header(in, path);
  const Conversion<T> conversion = conversion_of<T>(path, header.type);
  if (header.fortran_order && header.shape.size() > 1) {
    throw data_error(path, "is in Fortran order; allowed: C order (numpy.ascontiguousarray makes it so)");
  }
  const std::streampos data_start = in.tellg();
  in.seekg(0, std::ios::end);
  const auto data_bytes = static_cast<std::uint64_t>(in.tellg() - data_start);
  in.seekg(data_start);
  // Before anything is allocated, so that a damaged shape cannot ask for all of the memory.
  const std::optional<std::uint64_t> count = values_of(header.shape, std::max(conversion.bytes, sizeof(T)));
  if (!count || *count * conversion.bytes != data_bytes) {
    const std::string needed = count ? std::to_string(*count * conversion.bytes) : "more than 2^63";
    throw data_error(path, "has " + std::to_string(data_bytes) + " bytes of data; its shape " +
                               shape_text(header.shape) + " of '" + header.type + "' needs " + needed);
  }
  NpyArray<T> array{header.shape, std::vector<T>(static_cast<std::size_t>(*count))};
  constexpr std::size_t block = 1 << 16;
  for (std::size_t done = 0; done < array.values.size(); done += block) {
    const std::size_t values = std::min(block, array.values.size() - done);
    const std::string bytes = read_bytes(in, path, values * conversion.bytes, "its data");
    conversion.convert(bytes.data(), values, array.values.data() + done);
  }
  return array;
}

template NpyArray<double> read_npy(const std::string& path);
template NpyArray<float> read_npy(const std::string& path);

template <>
const char* npy_type_name<double>() {
  return "<f8";
}
template <>
const char* npy_type_name<float>() {
  return "<f4";
}
template <>
const char* npy_type_name<std::int64_t>() {
  return "<i8";
}
template <>
const char* npy_type_name<std::int32_t>() {
  return "<i4";
}
template <>
const char* npy_type_name<std::uint8_t>() {
  return "|u1";
}

template <class T>
NpyWriter<T>::NpyWriter(const std::string& path, const NpyShape& shape)
    : path_(path), file_(path), missing_(values_of(shape, sizeof(T)).value_or(0)) {
  const std::string text = header_text(npy_type_name<T>(), shape);
  const char start[] = {1, 0, static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
  file_.write(magic);
  file_.write({start, sizeof start});
  file_.write(text);
}

template <class T>
void NpyWriter<T>::write(const T* values, std::size_t count) {
  if (count > missing_) throw data_error(path_, "gets more values than its shape holds");
  missing_ -= count;
  file_.write({reinterpret_cast<const char*>(values), count * sizeof(T)});
}

template <class T>
void NpyWriter<T>::commit() {
  if (missing_ != 0) throw data_error(path_, "lacks " + std::to_string(missing_) + " of its values");
  file_.commit();
}

template class NpyWriter<double>;
template class NpyWriter<float>;
template class NpyWriter<std::int64_t>;
template class NpyWriter<std::int32_t>;
template class NpyWriter<std::uint8_t>;

}  // namespace zbphw
