#include "base/hdf5_live_driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>

#include "base/error.hpp"
#include "base/lookup3.hpp"

namespace zbphw {
namespace {

// Superblock, version 3: byte offsets.
constexpr std::size_t superblock_size = 48;
constexpr std::size_t version_at = 8;
constexpr std::size_t end_of_file_at = 28;
constexpr std::size_t checksum_at = 44;
using Superblock = std::array<unsigned char, superblock_size>;

// The superblock's end of file leads the data by up to `farthest_lead`, as a hole that takes no room on the disk, and
// never by less than `least_lead`: a reader that has just opened the file then also finds what is written meanwhile.
constexpr haddr_t farthest_lead = 16 << 20;
constexpr haddr_t least_lead = 8 << 20;

// Offsets are signed 64-bit numbers.
constexpr haddr_t largest_address = (haddr_t{1} << 62);

struct DriverInfo {
  const LiveWriteObserver* observer;
};

// HDF5 hands out and takes back a pointer to the first member.
struct LiveFile {
  H5FD_t base = {};
  int descriptor = -1;
  dev_t device = 0;
  ino_t inode = 0;
  haddr_t end_of_address_space = 0;  // what the library has allocated
  haddr_t size = 0;                  // what the file system holds
  haddr_t visible_end = 0;           // what the superblock on disk says
  Superblock superblock = {};
  bool has_superblock = false;
  bool failed = false;
  const LiveWriteObserver* observer = nullptr;
};

LiveFile& live(H5FD_t* file) { return *reinterpret_cast<LiveFile*>(file); }
const LiveFile& live(const H5FD_t* file) { return *reinterpret_cast<const LiveFile*>(file); }

// Puts the system's reason on HDF5's error stack, where it is the innermost message.
void push_system_error(const char* action) {
  const std::string text = std::string(action) + ": " + std::strerror(errno);
  H5Epush2(H5E_DEFAULT, __FILE__, "live_driver", __LINE__, H5E_ERR_CLS, H5E_VFL, H5E_WRITEERROR, "%s", text.c_str());
}

std::uint64_t read_little_endian(const unsigned char* bytes, std::size_t size) {
  std::uint64_t value = 0;
  for (std::size_t i = size; i-- > 0;) value = (value << 8) | bytes[i];
  return value;
}

void write_little_endian(unsigned char* bytes, std::size_t size, std::uint64_t value) {
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<unsigned char>(value >> (8 * i));
}

bool is_superblock(const void* buffer, haddr_t address, std::size_t size) {
  return address == 0 && size == superblock_size && std::memcmp(buffer, "\211HDF\r\n\032\n", 8) == 0 &&
         static_cast<const unsigned char*>(buffer)[version_at] == 3;
}

bool write_bytes(LiveFile& file, haddr_t address, const unsigned char* bytes, std::size_t size) {
  const haddr_t end = address + size;
  while (size > 0) {
    const ssize_t written = pwrite(file.descriptor, bytes, size, static_cast<off_t>(address));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      push_system_error("cannot be written");
      file.failed = true;
      return false;
    }
    bytes += written;
    address += static_cast<haddr_t>(written);
    size -= static_cast<std::size_t>(written);
  }
  file.size = std::max(file.size, end);
  if (file.observer != nullptr && *file.observer) (*file.observer)();
  return true;
}

bool resize(LiveFile& file, haddr_t size) {
  if (size == file.size) return true;
  if (ftruncate(file.descriptor, static_cast<off_t>(size)) != 0) return false;
  file.size = size;
  if (file.observer != nullptr && *file.observer) (*file.observer)();
  return true;
}

bool resize_or_fail(LiveFile& file, haddr_t size) {
  if (resize(file, size)) return true;
  push_system_error("cannot be resized");
  file.failed = true;
  return false;
}

// Writes the superblock with another end of file. The file is made long enough first: a reader refuses a file that is
// shorter than its superblock says.
bool publish_superblock(LiveFile& file, haddr_t end) {
  if (file.size < end && !resize_or_fail(file, end)) return false;
  Superblock bytes = file.superblock;
  write_little_endian(&bytes[end_of_file_at], 8, end);
  write_little_endian(&bytes[checksum_at], 4, lookup3(bytes.data(), checksum_at));
  file.visible_end = end;
  return write_bytes(file, 0, bytes.data(), bytes.size());
}

// Keeps the superblock's end of file ahead of a write up to `end`.
bool keep_lead(LiveFile& file, haddr_t end) {
  if (end + least_lead <= file.visible_end) return true;
  // Where a file may not be so large (a quota on sizes), the lead is given up.
  if (file.size >= end + farthest_lead || resize(file, end + farthest_lead)) {
    return publish_superblock(file, end + farthest_lead);
  }
  return end <= file.visible_end || publish_superblock(file, end);
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t file_access, haddr_t) {
  int mode = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  if ((flags & H5F_ACC_CREAT) != 0) mode |= O_CREAT;
  if ((flags & H5F_ACC_TRUNC) != 0) mode |= O_TRUNC;
  if ((flags & H5F_ACC_EXCL) != 0) mode |= O_EXCL;
  const int descriptor = open(name, mode | O_CLOEXEC, 0666);
  struct stat info = {};
  if (descriptor < 0 || fstat(descriptor, &info) != 0) {
    push_system_error("cannot be opened");
    if (descriptor >= 0) close(descriptor);
    return nullptr;
  }
  auto file = std::make_unique<LiveFile>();
  file->descriptor = descriptor;
  file->device = info.st_dev;
  file->inode = info.st_ino;
  file->size = static_cast<haddr_t>(info.st_size);
  file->observer = static_cast<const DriverInfo*>(H5Pget_driver_info(file_access))->observer;
  Superblock& superblock = file->superblock;
  if (pread(descriptor, superblock.data(), superblock.size(), 0) == static_cast<ssize_t>(superblock.size()) &&
      is_superblock(superblock.data(), 0, superblock.size())) {
    file->has_superblock = true;
    file->visible_end = read_little_endian(&superblock[end_of_file_at], 8);
  }
  return &file.release()->base;
}

herr_t close_file(H5FD_t* handle) {
  const std::unique_ptr<LiveFile> file(&live(handle));
  if (close(file->descriptor) == 0) return 0;
  push_system_error("cannot be closed");
  return -1;
}

int compare_files(const H5FD_t* left, const H5FD_t* right) {
  const LiveFile& a = live(left);
  const LiveFile& b = live(right);
  if (a.device != b.device) return a.device < b.device ? -1 : 1;
  if (a.inode != b.inode) return a.inode < b.inode ? -1 : 1;
  return 0;
}

// Metadata is not gathered into larger writes: the order of the single ones is what keeps the file consistent.
herr_t query_features(const H5FD_t*, unsigned long* flags) {
  *flags = H5FD_FEAT_AGGREGATE_METADATA | H5FD_FEAT_AGGREGATE_SMALLDATA | H5FD_FEAT_POSIX_COMPAT_HANDLE |
           H5FD_FEAT_SUPPORTS_SWMR_IO | H5FD_FEAT_DEFAULT_VFD_COMPATIBLE;
  return 0;
}

haddr_t get_end_of_address_space(const H5FD_t* file, H5FD_mem_t) { return live(file).end_of_address_space; }

herr_t set_end_of_address_space(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  live(file).end_of_address_space = address;
  return 0;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) { return live(file).size; }

herr_t get_descriptor(H5FD_t* file, hid_t, void** handle) {
  *handle = &live(file).descriptor;
  return 0;
}

herr_t read_file(H5FD_t* handle, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, void* buffer) {
  auto* bytes = static_cast<unsigned char*>(buffer);
  while (size > 0) {
    const ssize_t got = pread(live(handle).descriptor, bytes, size, static_cast<off_t>(address));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      push_system_error("cannot be read");
      return -1;
    }
    if (got == 0) break;
    bytes += got;
    address += static_cast<haddr_t>(got);
    size -= static_cast<std::size_t>(got);
  }
  std::memset(bytes, 0, size);  // beyond the end of the file all is zero
  return 0;
}

herr_t write_file(H5FD_t* handle, H5FD_mem_t, hid_t, haddr_t address, std::size_t size, const void* buffer) {
  LiveFile& file = live(handle);
  if (file.failed) return 0;
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  if (is_superblock(buffer, address, size)) {
    std::memcpy(file.superblock.data(), bytes, size);
    file.has_superblock = true;
    const haddr_t end = read_little_endian(bytes + end_of_file_at, 8);
    return publish_superblock(file, std::max(end, file.visible_end)) ? 0 : -1;
  }
  if (file.has_superblock && !keep_lead(file, address + size)) return -1;
  return write_bytes(file, address, bytes, size) ? 0 : -1;
}

// Every flush point of the library: what it has allocated is what the file holds. Only at the end (closing) is the file
// cut to it; before, the lead stays.
herr_t truncate_file(H5FD_t* handle, hid_t, hbool_t closing) {
  LiveFile& file = live(handle);
  if (file.failed || !closing) return 0;
  const haddr_t end = file.end_of_address_space;
  if (file.has_superblock && file.visible_end != end && !publish_superblock(file, end)) return -1;
  return resize_or_fail(file, end) ? 0 : -1;
}

// Without a lock function: then the library neither locks the file nor sets its "open for writing" flags.
hid_t register_driver() {
  static H5FD_class_t driver = {};
  driver.name = "zbphw_live";
  driver.maxaddr = largest_address;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(DriverInfo);
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare_files;
  driver.query = query_features;
  driver.get_eoa = get_end_of_address_space;
  driver.set_eoa = set_end_of_address_space;
  driver.get_eof = get_end_of_file;
  driver.get_handle = get_descriptor;
  driver.read = read_file;
  driver.write = write_file;
  driver.truncate = truncate_file;
  // One pool for all kinds of data, as in the POSIX driver.
  std::fill(std::begin(driver.fl_map), std::end(driver.fl_map), H5FD_MEM_DEFAULT);
  return H5FDregister(&driver);
}

}  // namespace

void use_live_driver(hid_t file_access, const LiveWriteObserver* observer) {
  static const hid_t driver = register_driver();
  const DriverInfo info{observer};
  if (driver < 0 || H5Pset_driver(file_access, driver, &info) < 0) {
    throw data_error("", "this HDF5 library does not take our file driver (1.10.8 does)");
  }
}

}  // namespace zbphw
