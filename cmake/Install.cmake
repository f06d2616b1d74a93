# `find_package(tamis)` with the target tamis::tamis, and a pkg-config file. Headers keep their rooms.
include(CMakePackageConfigHelpers)

install(TARGETS tamis_core EXPORT tamisTargets ARCHIVE)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/tamis TYPE INCLUDE FILES_MATCHING PATTERN "*.h")
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
list(JOIN TAMIS_PC_LIBS " " TAMIS_PC_LIBS)
file(RELATIVE_PATH TAMIS_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(${PROJECT_SOURCE_DIR}/cmake/tamis.pc.in ${CMAKE_CURRENT_BINARY_DIR}/tamis.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tamis.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
