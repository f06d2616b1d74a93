# Sources named *_avx2.cpp and *_avx512.cpp hold kernels for CPUs with these instructions, chosen at run time. On x86-64
# they alone get the flags, and the library is told by TAMIS_HAVE_AVX2=1 and TAMIS_HAVE_AVX512=1; elsewhere they are left
# out.
#
# Such a file must not instantiate inline functions or templates that other files use too: the linker keeps one
# copy, and it could be the one an older CPU cannot run. tests/portable_test.cmake looks for that.
include(CheckCXXCompilerFlag)

set(TAMIS_FLAGS_AVX2 -mavx2 -mfma)
set(TAMIS_FLAGS_AVX512 -mavx512f -mavx512vl -mavx512dq -mavx512bw -mfma -mprefer-vector-width=512)
set(TAMIS_KERNEL_DEFINITIONS "")
foreach(instructions AVX2 AVX512)
  string(TOLOWER ${instructions} suffix)
  set(sources ${TAMIS_SOURCES})
  list(FILTER sources INCLUDE REGEX "_${suffix}\\.cpp$")
  string(JOIN " " flags ${TAMIS_FLAGS_${instructions}})
  check_cxx_compiler_flag("${flags}" TAMIS_COMPILER_HAS_${instructions})
  if(TAMIS_COMPILER_HAS_${instructions} AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS "${TAMIS_FLAGS_${instructions}}")
    list(APPEND TAMIS_KERNEL_DEFINITIONS TAMIS_HAVE_${instructions}=1)
  else()
    list(REMOVE_ITEM TAMIS_SOURCES ${sources})
  endif()
endforeach()
