# The commit of the checkout, for `zbphw --version` and for every log and trace that names its maker.
#
# Included, this file gives zbphw_version_source(<variable>): the generated source behind base/version.hpp, and the
# target zbphw_version that refreshes it at every build. Run as a script (`cmake -P`), it is that refresh. The source
# is rewritten only when its text changes, so a build at the same commit compiles nothing.
function(zbphw_write_version_source)
  set(ZBPHW_COMMIT "unknown")
  # No optional locks: a build must not take the index away from a git command that runs beside it.
  execute_process(COMMAND git --no-optional-locks describe --always --exclude=* --dirty=+ --abbrev=12
                  WORKING_DIRECTORY "${ZBPHW_ROOT}"
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE result)
  if("${result}" STREQUAL "0")
    set(ZBPHW_COMMIT "${described}")
  endif()
  configure_file("${ZBPHW_ROOT}/base/version.cpp.in" "${ZBPHW_VERSION_SOURCE}" @ONLY)
endfunction()

if(CMAKE_SCRIPT_MODE_FILE)
  zbphw_write_version_source()
  return()
endif()

function(zbphw_version_source variable)
  set(source "${CMAKE_BINARY_DIR}/generated/version.cpp")
  add_custom_target(zbphw_version
    COMMAND ${CMAKE_COMMAND}
      "-DZBPHW_ROOT=${CMAKE_SOURCE_DIR}"
      "-DZBPHW_VERSION_SOURCE=${source}"
      "-DZBPHW_VERSION=${PROJECT_VERSION}"
      "-DZBPHW_COMPILER=${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}, ${CMAKE_BUILD_TYPE}"
      -P "${CMAKE_SOURCE_DIR}/cmake/GitCommit.cmake"
    BYPRODUCTS "${source}"
    VERBATIM)
  set(${variable} "${source}" PARENT_SCOPE)
endfunction()
