# The BLAS and LAPACK that every target links, as the target tamis_blas.
#
#   wheel    the OpenBLAS of the Python package index (scipy-openblas32), whose symbols begin with scipy_. It is found
#            through Python, copied beside what is built and installed with it. Commands, Python packages and C++
#            programs built so have one and the same BLAS, and so the same last bits.
#   system   OpenBLAS of the system where it is there, any other BLAS otherwise. The user's BLA_VENDOR wins.
#   auto     the first of the two that is there.
#
# Our threads call it side by side, which OpenBLAS's serial build does not survive (it shares its buffers without a
# lock), so the build on POSIX threads comes first; Debian keeps it in a folder of its own. blas.cpp tells it to use one
# thread.
set(TAMIS_BLAS auto CACHE STRING "BLAS: wheel (scipy-openblas32), system, or auto")

set(TAMIS_BLAS_WHEEL "")  # our copy of the wheel's library, or empty
set(TAMIS_BLAS_FILE "")   # its name
if(TAMIS_BLAS MATCHES "^(wheel|auto)$")
  set(TAMIS_BLAS_ASK ${Python_EXECUTABLE})
  if(NOT TAMIS_BLAS_ASK AND EXISTS ${PROJECT_SOURCE_DIR}/.venv/bin/python)
    set(TAMIS_BLAS_ASK ${PROJECT_SOURCE_DIR}/.venv/bin/python)
  endif()
  if(TAMIS_BLAS_ASK)
    execute_process(COMMAND ${TAMIS_BLAS_ASK} -c "import scipy_openblas32 as b; print(b.get_lib_dir())"
                    OUTPUT_VARIABLE folder OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    set(file libscipy_openblas${CMAKE_SHARED_LIBRARY_SUFFIX})
    if(folder AND EXISTS ${folder}/${file})
      set(TAMIS_BLAS_FILE ${file})
      file(COPY ${folder}/${TAMIS_BLAS_FILE} DESTINATION ${PROJECT_BINARY_DIR})
      set(TAMIS_BLAS_WHEEL ${PROJECT_BINARY_DIR}/${TAMIS_BLAS_FILE})
    endif()
  endif()
  if(TAMIS_BLAS STREQUAL "wheel" AND NOT TAMIS_BLAS_WHEEL)
    message(FATAL_ERROR "TAMIS_BLAS=wheel: no scipy_openblas32 in ${TAMIS_BLAS_ASK}; pip install it, or say system")
  endif()
endif()

add_library(tamis_blas INTERFACE)
if(TAMIS_BLAS_WHEEL)
  message(STATUS "BLAS: ${TAMIS_BLAS_WHEEL}")
  target_link_libraries(tamis_blas INTERFACE $<BUILD_INTERFACE:${TAMIS_BLAS_WHEEL}>
                                             $<INSTALL_INTERFACE:tamis::openblas>)
  target_compile_definitions(tamis_blas INTERFACE $<BUILD_INTERFACE:TAMIS_BLAS_WHEEL=1>)
else()
  if(NOT DEFINED BLA_VENDOR)
    set(BLA_VENDOR OpenBLAS)
    list(PREPEND CMAKE_LIBRARY_PATH /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-pthread)
    find_package(BLAS QUIET)
    if(NOT BLAS_FOUND)
      unset(BLA_VENDOR)
    endif()
  endif()
  find_package(BLAS REQUIRED)
  find_package(LAPACK REQUIRED)
  target_link_libraries(tamis_blas INTERFACE LAPACK::LAPACK BLAS::BLAS)
endif()

# The loader must find this build of it, not another one.
set(CMAKE_BUILD_RPATH_USE_ORIGIN ON)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
