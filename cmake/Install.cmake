# `find_package(tamis)` with the target tamis::tamis, and a pkg-config file; the command with its manual pages and its
# completions; the licenses. Headers keep their rooms; those that tamis.h does not reach are not installed.
include(CMakePackageConfigHelpers)

install(TARGETS tamis_core tamis_blas EXPORT tamisTargets ARCHIVE)
if(TARGET tamis)
  install(TARGETS tamis RUNTIME)
endif()
if(TAMIS_BLAS_WHEEL)
  install(FILES ${TAMIS_BLAS_WHEEL} DESTINATION ${CMAKE_INSTALL_LIBDIR})
  if(TARGET tamis)
    file(RELATIVE_PATH up /prefix/${CMAKE_INSTALL_BINDIR} /prefix/${CMAKE_INSTALL_LIBDIR})
    set_target_properties(tamis PROPERTIES INSTALL_RPATH $ORIGIN/${up} INSTALL_RPATH_USE_LINK_PATH OFF)
  endif()
endif()

# Every header that `header` includes, directly or not, and itself.
function(tamis_reached header out)
  set(reached ${header})
  set(waiting ${header})
  while(waiting)
    list(POP_FRONT waiting next)
    file(STRINGS ${PROJECT_SOURCE_DIR}/${next} lines REGEX "^#include \"tamis/")
    foreach(line ${lines})
      string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${line}")
      if(NOT included IN_LIST reached)
        list(APPEND reached ${included})
        list(APPEND waiting ${included})
      endif()
    endforeach()
  endwhile()
  set(${out} ${reached} PARENT_SCOPE)
endfunction()
tamis_reached(tamis/tamis.h headers)
foreach(header ${headers})
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
endforeach()

# The command prints its pages and completions itself.
if(TARGET tamis AND NOT CMAKE_CROSSCOMPILING)
  set(TAMIS_PAGES ${CMAKE_CURRENT_BINARY_DIR}/pages)
  install(CODE "
    execute_process(COMMAND \${CMAKE_COMMAND} -DCOMMAND=$<TARGET_FILE:tamis> -DOUT=${TAMIS_PAGES}
                            -P ${PROJECT_SOURCE_DIR}/cmake/Pages.cmake COMMAND_ERROR_IS_FATAL ANY)")
  install(DIRECTORY ${TAMIS_PAGES}/man1 DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(FILES ${TAMIS_PAGES}/tamis.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME tamis)
  install(FILES ${TAMIS_PAGES}/tamis.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions RENAME _tamis)
  install(FILES ${TAMIS_PAGES}/tamis.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
endif()

file(GLOB licenses RELATIVE ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/third_party/*/LICENSE*)
foreach(license LICENSE ${licenses})
  get_filename_component(folder ${license} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${license} DESTINATION ${CMAKE_INSTALL_DOCDIR}/${folder})
endforeach()

set(TAMIS_CONFIG_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/tamis)
install(EXPORT tamisTargets NAMESPACE tamis:: DESTINATION ${TAMIS_CONFIG_DIR})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/tamisConfig.cmake.in
                              ${CMAKE_CURRENT_BINARY_DIR}/tamisConfig.cmake
                              INSTALL_DESTINATION ${TAMIS_CONFIG_DIR})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/tamisConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamisConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/tamisConfigVersion.cmake
        DESTINATION ${TAMIS_CONFIG_DIR})

# The library is static, so pkg-config names what it needs in full: -lopenblas, -llapack -lblas, ...
set(TAMIS_PC_LIBS "")
if(TAMIS_BLAS_WHEEL)
  set(TAMIS_PC_LIBS -lscipy_openblas "-Wl,-rpath,\${libdir}")
else()
  foreach(library ${LAPACK_LIBRARIES} ${BLAS_LIBRARIES})
    if(library MATCHES "^-")
      list(APPEND TAMIS_PC_LIBS ${library})
    else()
      get_filename_component(name ${library} NAME_WE)
      string(REGEX REPLACE "^lib" "-l" name ${name})
      list(APPEND TAMIS_PC_LIBS ${name})
    endif()
  endforeach()
  list(REMOVE_DUPLICATES TAMIS_PC_LIBS)
endif()
list(JOIN TAMIS_PC_LIBS " " TAMIS_PC_LIBS)
file(RELATIVE_PATH TAMIS_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tamis.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tamis.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
