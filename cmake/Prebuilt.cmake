# The libraries of another build of the same tree, TAMIS_PREBUILT, in the place of the targets that build them.
foreach(name core app)
  add_library(tamis_${name} STATIC IMPORTED)
endforeach()
set_target_properties(tamis_core PROPERTIES IMPORTED_LOCATION ${TAMIS_PREBUILT}/libtamis.a
                                            INTERFACE_INCLUDE_DIRECTORIES ${PROJECT_SOURCE_DIR})
target_compile_features(tamis_core INTERFACE cxx_std_20)
target_link_libraries(tamis_core INTERFACE Threads::Threads ZLIB::ZLIB tamis_blas)
set_target_properties(tamis_app PROPERTIES IMPORTED_LOCATION ${TAMIS_PREBUILT}/libtamis_app.a)
target_link_libraries(tamis_app INTERFACE tamis_core)
