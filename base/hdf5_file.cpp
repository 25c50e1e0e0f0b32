#include "base/hdf5_file.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <functional>
#include <numeric>

#include "base/error.hpp"

namespace zbphw {
namespace {

// As little as a fast deflate gains on noise, the shuffled exponents compress well; higher levels cost time for
// nothing.
constexpr unsigned deflate_level = 4;

// What the types are called in the file, and what they are in memory.
hid_t stored_type(Hdf5Type type) {
  switch (type) {
    case Hdf5Type::float64:
      return H5T_IEEE_F64LE;
    case Hdf5Type::float32:
      return H5T_IEEE_F32LE;
    case Hdf5Type::int64:
      return H5T_STD_I64LE;
    case Hdf5Type::int32:
      return H5T_STD_I32LE;
    case Hdf5Type::uint8:
      return H5T_STD_U8LE;
  }
  return -1;
}

hid_t memory_type(Hdf5Type type) {
  switch (type) {
    case Hdf5Type::float64:
      return H5T_NATIVE_DOUBLE;
    case Hdf5Type::float32:
      return H5T_NATIVE_FLOAT;
    case Hdf5Type::int64:
      return H5T_NATIVE_INT64;
    case Hdf5Type::int32:
      return H5T_NATIVE_INT32;
    case Hdf5Type::uint8:
      return H5T_NATIVE_UINT8;
  }
  return -1;
}

constexpr Hdf5Type all_types[] = {Hdf5Type::float64, Hdf5Type::float32, Hdf5Type::int64, Hdf5Type::int32,
                                  Hdf5Type::uint8};

// HDF5's own message from where the failure began. The library also clears its stack at the next call, so this is
// to be asked for at once.
std::string innermost_message() {
  std::string message;
  const auto take_first = [](unsigned, const H5E_error2_t* error, void* out) -> herr_t {
    auto& text = *static_cast<std::string*>(out);
    if (text.empty() && error->desc != nullptr) text = error->desc;
    return 0;
  };
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &message);
  std::replace(message.begin(), message.end(), '\n', ' ');
  return message.empty() ? "HDF5 gives no reason" : message;
}

[[noreturn]] void fail(const std::string& file, const std::string& object, const std::string& what) {
  const std::string reason = innermost_message();
  throw data_error(file, (object.empty() ? "" : object + " ") + what + ": " + reason);
}

Hdf5Handle checked(hid_t id, Hdf5Handle::Close close, const std::string& file, const std::string& object,
                   const std::string& what) {
  if (id < 0) fail(file, object, what);
  return {id, close};
}

// Version 1.10 of the format: checksums on all metadata, and the indexes that single-writer mode needs.
Hdf5Handle file_access(const std::string& path) {
  static const bool silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  Hdf5Handle list = checked(silent ? H5Pcreate(H5P_FILE_ACCESS) : -1, H5Pclose, path, "", "cannot be opened");
  // Locks keep plain readers out of a file that is being written, which ours allows.
  if (H5Pset_libver_bounds(list.get(), H5F_LIBVER_V110, H5F_LIBVER_V110) < 0 ||
      H5Pset_file_locking(list.get(), false, true) < 0) {
    fail(path, "", "cannot be opened");
  }
  return list;
}

void refuse_directory(const std::string& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw data_error(path, "is a directory; allowed: the name of an HDF5 file");
  }
}

// Texts are UTF-8 of variable length, which h5py gives as str.
Hdf5Handle text_type(const std::string& path) {
  Hdf5Handle type = checked(H5Tcopy(H5T_C_S1), H5Tclose, path, "", "cannot describe a text");
  if (H5Tset_size(type.get(), H5T_VARIABLE) < 0 || H5Tset_cset(type.get(), H5T_CSET_UTF8) < 0) {
    fail(path, "", "cannot describe a text");
  }
  return type;
}

Hdf5Handle creation_list(const std::string& file, const std::string& path, const std::vector<hsize_t>& chunk) {
  Hdf5Handle list = checked(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, file, path, "cannot be described");
  // The checksum stands last, so that it is the first thing to be looked at when reading.
  if (H5Pset_chunk(list.get(), static_cast<int>(chunk.size()), chunk.data()) < 0 || H5Pset_shuffle(list.get()) < 0 ||
      H5Pset_deflate(list.get(), deflate_level) < 0 || H5Pset_fletcher32(list.get()) < 0 ||
      H5Pset_obj_track_times(list.get(), false) < 0) {
    fail(file, path, "cannot be chunked and compressed");
  }
  return list;
}

Hdf5Handle link_list(const std::string& file, const std::string& path) {
  Hdf5Handle list = checked(H5Pcreate(H5P_LINK_CREATE), H5Pclose, file, path, "cannot be linked");
  if (H5Pset_create_intermediate_group(list.get(), 1) < 0) fail(file, path, "cannot be linked");
  return list;
}

Hdf5Type type_from_file(hid_t data_set, const std::string& file, const std::string& path) {
  const Hdf5Handle stored = checked(H5Dget_type(data_set), H5Tclose, file, path, "has an unreadable type");
  for (const Hdf5Type type : all_types) {
    if (H5Tequal(stored.get(), stored_type(type)) > 0) return type;
  }
  throw data_error(file, path + " has another type than float64, float32, int64, int32 or uint8 (little-endian)");
}

}  // namespace

const char* to_text(Hdf5Type type) {
  switch (type) {
    case Hdf5Type::float64:
      return "float64";
    case Hdf5Type::float32:
      return "float32";
    case Hdf5Type::int64:
      return "int64";
    case Hdf5Type::int32:
      return "int32";
    case Hdf5Type::uint8:
      return "uint8";
  }
  return "unknown";
}

std::size_t bytes_of(Hdf5Type type) { return H5Tget_size(stored_type(type)); }

std::int64_t Hdf5DataSet::values_per_row() const {
  return std::accumulate(row_shape_.begin(), row_shape_.end(), std::int64_t{1}, std::multiplies<>());
}

std::vector<hsize_t> Hdf5DataSet::extent(std::int64_t rows) const {
  std::vector<hsize_t> sizes = {static_cast<hsize_t>(rows)};
  sizes.insert(sizes.end(), row_shape_.begin(), row_shape_.end());
  return sizes;
}

// Moves rows between memory and file; exactly one of `source` (to the file) and `target` (from it) is not null.
void Hdf5DataSet::transfer(std::int64_t first, std::int64_t count, Hdf5Type type, const void* source,
                           void* target) const {
  const char* what = source != nullptr ? "cannot be written" : "cannot be read";
  const std::vector<hsize_t> block = extent(count);
  std::vector<hsize_t> start(block.size(), 0);
  start[0] = static_cast<hsize_t>(first);
  const Hdf5Handle memory = checked(H5Screate_simple(static_cast<int>(block.size()), block.data(), nullptr), H5Sclose,
                                    file_path_, path_, what);
  const Hdf5Handle file = checked(H5Dget_space(handle_.get()), H5Sclose, file_path_, path_, what);
  herr_t status = H5Sselect_hyperslab(file.get(), H5S_SELECT_SET, start.data(), nullptr, block.data(), nullptr);
  if (status >= 0 && source != nullptr) {
    status = H5Dwrite(handle_.get(), memory_type(type), memory.get(), file.get(), H5P_DEFAULT, source);
  } else if (status >= 0) {
    status = H5Dread(handle_.get(), memory_type(type), memory.get(), file.get(), H5P_DEFAULT, target);
  }
  if (status < 0) fail(file_path_, path_, what);
}

void Hdf5DataSet::append(const void* data, std::int64_t rows) {
  if (rows <= 0) return;
  if (H5Dset_extent(handle_.get(), extent(rows_ + rows).data()) < 0) fail(file_path_, path_, "cannot be extended");
  transfer(rows_, rows, type_, data, nullptr);
  rows_ += rows;
}

void Hdf5DataSet::flush() {
  if (H5Dflush(handle_.get()) < 0) fail(file_path_, path_, "cannot be written");
}

void Hdf5DataSet::read_as(Hdf5Type type, std::int64_t first, std::int64_t count, void* out) const {
  if (first < 0 || count < 0 || first > rows_ || count > rows_ - first) {
    throw data_error(file_path_, path_ + " has " + std::to_string(rows_) + " rows; asked for rows " +
                                     std::to_string(first) + " to " + std::to_string(first + count));
  }
  if (count > 0 && values_per_row() > 0) transfer(first, count, type, nullptr, out);
}

Hdf5File Hdf5File::create(const std::string& path) {
  refuse_directory(path);
  const Hdf5Handle access = file_access(path);
  const Hdf5Handle list = checked(H5Pcreate(H5P_FILE_CREATE), H5Pclose, path, "", "cannot be created");
  return {path, checked(H5Fcreate(path.c_str(), H5F_ACC_EXCL, list.get(), access.get()), H5Fclose, path, "",
                        "cannot be created")};
}

Hdf5File Hdf5File::open_to_add(const std::string& path) {
  const Hdf5Handle access = file_access(path);
  return {path, checked(H5Fopen(path.c_str(), H5F_ACC_RDWR, access.get()), H5Fclose, path, "", "cannot be opened")};
}

Hdf5File Hdf5File::open(const std::string& path) {
  refuse_directory(path);
  const Hdf5Handle access = file_access(path);
  return {path, checked(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()), H5Fclose, path, "", "cannot be opened")};
}

Hdf5File Hdf5File::open_live(const std::string& path, const LiveWriteObserver* observer) {
  refuse_directory(path);
  const Hdf5Handle access = file_access(path);
  use_live_driver(access.get(), observer);
  return {path, checked(H5Fopen(path.c_str(), H5F_ACC_RDWR | H5F_ACC_SWMR_WRITE, access.get()), H5Fclose, path, "",
                        "cannot be opened for writing")};
}

Hdf5DataSet Hdf5File::create_data_set(const std::string& path, const Hdf5DataSetSpec& spec) {
  Hdf5DataSet set;
  set.file_path_ = path_;
  set.path_ = path;
  set.type_ = spec.type;
  set.row_shape_ = spec.row_shape;
  set.chunk_rows_ = spec.chunk_rows;
  std::vector<hsize_t> most = set.extent(0);
  most[0] = H5S_UNLIMITED;
  const std::vector<hsize_t> none = set.extent(0);
  const Hdf5Handle space = checked(H5Screate_simple(static_cast<int>(none.size()), none.data(), most.data()), H5Sclose,
                                   path_, path, "cannot be described");
  const Hdf5Handle list = creation_list(path_, path, set.extent(spec.chunk_rows));
  const Hdf5Handle links = link_list(path_, path);
  set.handle_ = checked(H5Dcreate2(handle_.get(), path.c_str(), stored_type(spec.type), space.get(), links.get(),
                                   list.get(), H5P_DEFAULT),
                        H5Dclose, path_, path, "cannot be created");
  return set;
}

void Hdf5File::create_group(const std::string& path) {
  const Hdf5Handle links = link_list(path_, path);
  checked(H5Gcreate2(handle_.get(), path.c_str(), links.get(), H5P_DEFAULT, H5P_DEFAULT), H5Gclose, path_, path,
          "cannot be created");
}

Hdf5DataSet Hdf5File::data_set(const std::string& path) const {
  Hdf5DataSet set;
  set.file_path_ = path_;
  set.path_ = path;
  set.handle_ = checked(H5Dopen2(handle_.get(), path.c_str(), H5P_DEFAULT), H5Dclose, path_, path, "cannot be opened");
  set.type_ = type_from_file(set.handle_.get(), path_, path);
  const Hdf5Handle space = checked(H5Dget_space(set.handle_.get()), H5Sclose, path_, path, "has no readable shape");
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank < 1) throw data_error(path_, path + " has no rows; a data set of at least one dimension is needed");
  std::vector<hsize_t> sizes(static_cast<std::size_t>(rank));
  H5Sget_simple_extent_dims(space.get(), sizes.data(), nullptr);
  set.rows_ = static_cast<std::int64_t>(sizes[0]);
  set.row_shape_.assign(sizes.begin() + 1, sizes.end());
  const Hdf5Handle list =
      checked(H5Dget_create_plist(set.handle_.get()), H5Pclose, path_, path, "has no readable layout");
  if (H5Pget_layout(list.get()) == H5D_CHUNKED && H5Pget_chunk(list.get(), rank, sizes.data()) == rank) {
    set.chunk_rows_ = static_cast<std::int64_t>(sizes[0]);
  }
  return set;
}

bool Hdf5File::exists(const std::string& path) const {
  // H5Lexists wants every group on the way to exist.
  for (std::size_t end = path.find('/', 1);; end = path.find('/', end + 1)) {
    if (H5Lexists(handle_.get(), path.substr(0, end).c_str(), H5P_DEFAULT) <= 0) return false;
    if (end == std::string::npos) return true;
  }
}

std::vector<std::string> Hdf5File::data_set_paths() const {
  std::vector<std::string> paths;
  const auto take_data_set = [](hid_t, const char* name, const H5O_info_t* info, void* out) -> herr_t {
    if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(out)->push_back("/" + std::string(name));
    return 0;
  };
  if (H5Ovisit2(handle_.get(), H5_INDEX_NAME, H5_ITER_INC, take_data_set, &paths, H5O_INFO_BASIC) < 0) {
    fail(path_, "", "cannot be listed");
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

void Hdf5File::write_attribute(const std::string& object, const std::string& name, hid_t stored, hid_t given,
                               const void* value, hsize_t count) {
  const std::string where = object + " attribute " + name;
  const Hdf5Handle space = checked(count == 0 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &count, nullptr), H5Sclose,
                                   path_, where, "cannot be described");
  const Hdf5Handle attribute = checked(H5Acreate_by_name(handle_.get(), object.c_str(), name.c_str(), stored,
                                                         space.get(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                       H5Aclose, path_, where, "cannot be created");
  if (H5Awrite(attribute.get(), given, value) < 0) fail(path_, where, "cannot be written");
}

void Hdf5File::set_text(const std::string& object, const std::string& name, const std::string& value) {
  const Hdf5Handle type = text_type(path_);
  const char* pointer = value.c_str();
  write_attribute(object, name, type.get(), type.get(), &pointer);
}

void Hdf5File::set_number(const std::string& object, const std::string& name, double value) {
  write_attribute(object, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, &value);
}

void Hdf5File::set_integer(const std::string& object, const std::string& name, std::uint64_t value) {
  write_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, &value);
}

void Hdf5File::set_integers(const std::string& object, const std::string& name,
                            const std::vector<std::uint64_t>& values) {
  write_attribute(object, name, H5T_STD_U64LE, H5T_NATIVE_UINT64, values.data(), values.size());
}

bool Hdf5File::has_attribute(const std::string& object, const std::string& name) const {
  return H5Aexists_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT) > 0;
}

// `count` receives the length of a list; without it, a list is refused.
Hdf5Handle Hdf5File::open_attribute(const std::string& object, const std::string& name, H5T_class_t kind,
                                    hssize_t* count) const {
  if (!has_attribute(object, name)) throw data_error(path_, object + " has no attribute '" + name + "'");
  const std::string where = object + " attribute " + name;
  Hdf5Handle attribute = checked(H5Aopen_by_name(handle_.get(), object.c_str(), name.c_str(), H5P_DEFAULT, H5P_DEFAULT),
                                 H5Aclose, path_, where, "cannot be opened");
  const Hdf5Handle stored = checked(H5Aget_type(attribute.get()), H5Tclose, path_, where, "cannot be read");
  const Hdf5Handle space = checked(H5Aget_space(attribute.get()), H5Sclose, path_, where, "cannot be read");
  const hssize_t values = H5Sget_simple_extent_npoints(space.get());
  if (H5Tget_class(stored.get()) != kind || values < 0 || (count == nullptr && values != 1)) {
    throw data_error(path_, where + " has another type or shape than expected");
  }
  if (count != nullptr) *count = values;
  return attribute;
}

std::string Hdf5File::text(const std::string& object, const std::string& name) const {
  const std::string where = object + " attribute " + name;
  const Hdf5Handle attribute = open_attribute(object, name, H5T_STRING);
  const Hdf5Handle stored = checked(H5Aget_type(attribute.get()), H5Tclose, path_, where, "cannot be read");
  if (H5Tis_variable_str(stored.get()) > 0) {
    char* value = nullptr;
    const Hdf5Handle type = text_type(path_);
    if (H5Aread(attribute.get(), type.get(), &value) < 0) fail(path_, where, "cannot be read");
    const std::string text = value == nullptr ? "" : value;
    H5free_memory(value);
    return text;
  }
  // Texts of fixed length are not ours, but a trace that other software wrote may have them.
  std::string text(H5Tget_size(stored.get()), '\0');
  if (H5Aread(attribute.get(), stored.get(), text.data()) < 0) fail(path_, where, "cannot be read");
  text.resize(std::strlen(text.c_str()));  // padded with NUL
  return text;
}

double Hdf5File::number(const std::string& object, const std::string& name) const {
  const Hdf5Handle attribute = open_attribute(object, name, H5T_FLOAT);
  double value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_DOUBLE, &value) < 0)
    fail(path_, object + " attribute " + name, "cannot be read");
  return value;
}

std::uint64_t Hdf5File::integer(const std::string& object, const std::string& name) const {
  const Hdf5Handle attribute = open_attribute(object, name, H5T_INTEGER);
  std::uint64_t value = 0;
  if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, &value) < 0)
    fail(path_, object + " attribute " + name, "cannot be read");
  return value;
}

std::vector<std::uint64_t> Hdf5File::integers(const std::string& object, const std::string& name) const {
  hssize_t count = 0;
  const Hdf5Handle attribute = open_attribute(object, name, H5T_INTEGER, &count);
  std::vector<std::uint64_t> values(static_cast<std::size_t>(count));
  if (H5Aread(attribute.get(), H5T_NATIVE_UINT64, values.data()) < 0) {
    fail(path_, object + " attribute " + name, "cannot be read");
  }
  return values;
}

void Hdf5File::close() {
  if (!handle_.reset()) fail(path_, "", "cannot be closed");
}

}  // namespace zbphw
