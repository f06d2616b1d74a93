# OpenBLAS where it is there, any other BLAS and LAPACK otherwise. The user's BLA_VENDOR wins.
#
# Our threads call it side by side, which its serial build does not survive (it shares its buffers without a lock), so
# the build on POSIX threads comes first; Debian keeps it in a folder of its own. blas.cpp tells it to use one thread.
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
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # the loader might find another build
