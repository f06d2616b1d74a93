# Compiles through ccache where it is installed.
find_program(TAMIS_CCACHE ccache)
mark_as_advanced(TAMIS_CCACHE)
if(TAMIS_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${TAMIS_CCACHE})
endif()
