# Installs BUILD below WORK, then builds and runs the consumer against it, by CMake and (where it is there) pkg-config.
set(prefix ${WORK}/prefix)
file(REMOVE_RECURSE ${WORK})
function(run)
  execute_process(COMMAND ${ARGV} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
# Installed is what a program can include by tamis.h, as the compiler sees it, and no other header.
file(GLOB_RECURSE installed RELATIVE ${prefix}/include ${prefix}/include/*.h)
execute_process(COMMAND ${COMPILER} -std=c++20 -I${prefix}/include -MM ${SOURCE}/main.cpp OUTPUT_VARIABLE reached
                COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "tamis/[a-z_/]+\\.h" reached "${reached}")
list(TRANSFORM reached REPLACE "^.*include/" "")
list(SORT installed)
list(SORT reached)
if(NOT installed STREQUAL reached)
  message(FATAL_ERROR "installed headers: ${installed}\nof tamis.h: ${reached}")
endif()
foreach(file man/man1/tamis.1 man/man1/tamis-select.1 bash-completion/completions/tamis zsh/site-functions/_tamis
             fish/vendor_completions.d/tamis.fish doc/tamis/LICENSE doc/tamis/third_party/openblas/LICENSE)
  if(NOT EXISTS ${prefix}/share/${file})
    message(FATAL_ERROR "not installed: share/${file}")
  endif()
endforeach()

run(${CMAKE_COMMAND} -S ${SOURCE} -B ${WORK}/build -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/consumer)

find_program(PKG_CONFIG pkg-config)
if(PKG_CONFIG)
  set(ENV{PKG_CONFIG_PATH} ${prefix}/${LIBDIR}/pkgconfig)
  execute_process(COMMAND ${PKG_CONFIG} --cflags --libs tamis OUTPUT_VARIABLE flags
                  OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(flags UNIX_COMMAND "${flags}")
  run(${COMPILER} -std=c++20 ${SOURCE}/main.cpp ${flags} -o ${WORK}/by_pkg_config)
  run(${WORK}/by_pkg_config)
endif()
