# The commit of the checkout, for `zbphw --version` and for every header and trace that names its maker.
# Asked at configure time; "unknown" outside a git checkout. A modified tree is marked with "+".
set(ZBPHW_COMMIT "unknown")
find_package(Git QUIET)
if(GIT_FOUND)
  execute_process(COMMAND ${GIT_EXECUTABLE} describe --always --dirty=+ --abbrev=12
                  WORKING_DIRECTORY ${CMAKE_SOURCE_DIR}
                  OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(NOT failed)
    set(ZBPHW_COMMIT "${described}")
  endif()
endif()
