# TAMIS_SANITIZE=address,undefined (or thread): every target is compiled and linked with these sanitizers, and the
# first finding ends the program.
if(TAMIS_SANITIZE)
  add_compile_options(-fsanitize=${TAMIS_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${TAMIS_SANITIZE})
endif()
