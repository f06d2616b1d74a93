# tamis_unite(TARGET): its sources are compiled a folder at a time, as one unit, which takes a third of the time: most of
# it is headers, and templates that every file instantiates anew. So names of helpers are unique within a room.
# Sources with flags of their own (*_avx2.cpp, *_avx512.cpp) stay apart. TAMIS_UNITY=OFF compiles them one by one, for tools that look
# at single files and for work on one of them.
option(TAMIS_UNITY "Compile each folder as one unit" ON)

function(tamis_unite target)
  if(NOT TAMIS_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cpp$")
  foreach(source ${sources})
    get_filename_component(folder "${source}" DIRECTORY)
    get_filename_component(room "${folder}" NAME)
    set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${room}")
  endforeach()
endfunction()
