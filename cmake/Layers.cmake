# One CMake target for each folder, and an import rule that the compiler enforces.
#
# `zbphw_layer(<folder> DEPENDS <folders>... SOURCES <files>... LIBRARIES <targets>...)` makes the library zbphw::<folder>.
# Headers are included by their path from the repository root ("base/error.hpp"), but the root itself is on nobody's
# include path: every folder gets an include root of its own that holds one link, to that folder. A target sees the
# include roots of the layers that it names, so an upward include does not find its file and the build stops.
function(zbphw_layer folder)
  cmake_parse_arguments(LAYER "" "" "DEPENDS;SOURCES;LIBRARIES" ${ARGN})
  set(include_root "${CMAKE_BINARY_DIR}/include_roots/${folder}")
  file(MAKE_DIRECTORY "${include_root}")
  file(CREATE_LINK "${CMAKE_SOURCE_DIR}/${folder}" "${include_root}/${folder}" SYMBOLIC)

  set(archive "zbphw_${folder}_archive")
  add_library(${archive} STATIC ${LAYER_SOURCES})
  target_include_directories(${archive} PUBLIC "${include_root}")
  target_link_libraries(${archive} PRIVATE zbphw_warnings PUBLIC zbphw_settings ${LAYER_LIBRARIES})
  foreach(below IN LISTS LAYER_DEPENDS)
    target_link_libraries(${archive} PUBLIC zbphw::${below})
  endforeach()

  # Linked whole: a source that only registers a name is called by nobody, and must not be dropped.
  add_library(zbphw_${folder} INTERFACE)
  target_link_libraries(zbphw_${folder} INTERFACE "$<LINK_LIBRARY:WHOLE_ARCHIVE,${archive}>")
  add_library(zbphw::${folder} ALIAS zbphw_${folder})
endfunction()
