# Sources named *_avx2.cpp hold kernels for CPUs with AVX2 and FMA, chosen at run time. On x86-64 they alone get the
# flags and the library is told by TAMIS_HAVE_AVX2=1; elsewhere they are left out.
#
# Such a file must not instantiate inline functions or templates that other files use too: the linker keeps one
# copy, and it could be the one an older CPU cannot run. tests/portable_test.cmake looks for that.
include(CheckCXXCompilerFlag)

set(TAMIS_AVX2_SOURCES ${TAMIS_SOURCES})
list(FILTER TAMIS_AVX2_SOURCES INCLUDE REGEX "_avx2\\.cpp$")
set(TAMIS_AVX2_DEFINITION "")
if(TAMIS_AVX2_SOURCES)
  set(TAMIS_AVX2_FLAGS -mavx2 -mfma)
  check_cxx_compiler_flag("-mavx2 -mfma" TAMIS_COMPILER_HAS_AVX2)
  if(TAMIS_COMPILER_HAS_AVX2 AND CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64|amd64")
    set_source_files_properties(${TAMIS_AVX2_SOURCES} PROPERTIES COMPILE_OPTIONS "${TAMIS_AVX2_FLAGS}")
    set(TAMIS_AVX2_DEFINITION TAMIS_HAVE_AVX2=1)
  else()
    list(REMOVE_ITEM TAMIS_SOURCES ${TAMIS_AVX2_SOURCES})
    set(TAMIS_AVX2_SOURCES "")
  endif()
endif()
