# OpenBLAS where it is there, any other BLAS and LAPACK otherwise. The user's BLA_VENDOR wins.
#
# Threads are ours, so its serial build comes first (Debian keeps it beside the threaded one): the threaded build
# starts threads of its own when it is loaded, which cost a small run a third of its time.
if(NOT DEFINED BLA_VENDOR)
  set(BLA_VENDOR OpenBLAS)
  list(PREPEND CMAKE_LIBRARY_PATH /usr/lib/${CMAKE_LIBRARY_ARCHITECTURE}/openblas-serial)
  find_package(BLAS QUIET)
  if(NOT BLAS_FOUND)
    unset(BLA_VENDOR)
  endif()
endif()
find_package(BLAS REQUIRED)
find_package(LAPACK REQUIRED)
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)  # the loader would find the threaded one
