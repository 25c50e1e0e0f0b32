// An HDF5 file driver whose file can be opened by any reader at any moment: while it is written and after a SIGKILL.
//
// HDF5's single-writer mode (SWMR) orders its writes so that what is on disk is consistent after every one of them.
// Yet a plain reader (h5dump, h5py.File(path)) refuses such a file, for two things in its superblock: the "open for
// writing" flags, which only a clean close (or h5clear) takes away, and an end-of-file address that lags behind the
// data. The library sets the flags only through drivers that lock files, and this one does not. And this driver writes
// the superblock anew, with an end-of-file address that is ahead of the data, before the first byte beyond the old one.
// Nothing else differs from HDF5's own POSIX driver.
//
// The layout of the superblock, version 3, is section II.A of the "HDF5 File Format Specification Version 3.0".
#pragma once

#include <hdf5.h>

#include <functional>

namespace zbphw {

// Called after every change of the file on disk. For tests that look at the file between two writes.
using LiveWriteObserver = std::function<void()>;

// Makes `file_access` (a property list of class H5P_FILE_ACCESS) use the driver. `observer` may be null; it must
// outlive every file opened with the list.
//
// After a write that failed (a full disk) the driver drops all later ones without an error: the file stays at its last
// consistent state, and the library can be closed in order. The caller sees the first failure and must not go on.
// Not for use from two threads, like the whole of Debian's HDF5. Throws a data Error when the library is older than the
// driver's interface.
void use_live_driver(hid_t file_access, const LiveWriteObserver* observer);

}  // namespace zbphw
