# Every library we use, found once. All come from Debian 12 packages; scripts/packages.txt names them.
find_package(Torch REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(SystemC REQUIRED IMPORTED_TARGET systemc)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(HDF5 REQUIRED COMPONENTS C)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# The BLAS that LibTorch is linked to. Its Fortran functions are called by name, so no header is needed; Debian's LibTorch
# brings the library itself but not the link that a -dev package would.
find_library(BLAS_LIBRARY NAMES blas libblas.so.3 openblas REQUIRED)

# Headers of the libraries are system headers: their warnings are not ours to mend.
add_library(zbphw_torch INTERFACE)
# at::parallel_for is a header around an OpenMP pragma: without the flag it runs on one thread, and says nothing.
find_package(OpenMP REQUIRED COMPONENTS CXX)
target_link_libraries(zbphw_torch INTERFACE ${TORCH_LIBRARIES} OpenMP::OpenMP_CXX)
target_include_directories(zbphw_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})

add_library(zbphw_hdf5 INTERFACE)
target_link_libraries(zbphw_hdf5 INTERFACE ${HDF5_C_LIBRARIES})
target_include_directories(zbphw_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})

add_library(zbphw_sc_main OBJECT "${CMAKE_CURRENT_LIST_DIR}/sc_main.cpp")
add_library(zbphw_systemc INTERFACE)
target_link_libraries(zbphw_systemc INTERFACE PkgConfig::SystemC zbphw_sc_main "$<TARGET_OBJECTS:zbphw_sc_main>")
