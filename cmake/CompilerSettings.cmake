# Compile settings that all of our targets share, as two interface targets.
set(CMAKE_CXX_STANDARD 17 CACHE STRING "C++ standard (17 or 20)")
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

# -O2 with NDEBUG left undefined costs nothing measurable here and keeps assert() alive in libraries that use it;
# -ffast-math is never set: it deletes the checks for NaN.
add_library(zbphw_settings INTERFACE)
if(ZBPHW_SANITIZE)
  target_compile_options(zbphw_settings INTERFACE -fsanitize=address,undefined -fno-omit-frame-pointer
                                                  -fno-sanitize-recover=undefined)
  # Instrumented code misleads g++ 12's flow analysis: it finds uninitialised members inside std::regex.
  target_compile_options(zbphw_settings INTERFACE -Wno-maybe-uninitialized)
  target_link_options(zbphw_settings INTERFACE -fsanitize=address,undefined)
endif()

add_library(zbphw_warnings INTERFACE)
target_compile_options(zbphw_warnings INTERFACE -Wall -Wextra -Wpedantic)
if(ZBPHW_WERROR)
  target_compile_options(zbphw_warnings INTERFACE -Werror)
endif()
