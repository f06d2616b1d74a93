# The files of the report page, and the digits of the demo, in the library: TAMIS_EMBEDDED is a source that holds their bytes and their hashes.
#
# The assembler takes the bytes in (.incbin), which costs the compiler nothing; sections and names are spelled for ELF, or
# for Mach-O on Apple. The page lets
# in scripts and styles by their hash alone (Content-Security-Policy), so the hashes stand in the source; a changed file
# thereby changes the source too, and no compiler cache can serve an old one.

# 'sha256-...' in base 64, as a policy spells it.
function(tamis_policy_hash path out)
  file(SHA256 ${path} hex)
  set(alphabet ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/)
  set(text "")
  string(APPEND hex 00)  # 32 bytes and one of padding: eleven groups of three
  foreach(group RANGE 10)
    math(EXPR begin "${group} * 6")
    string(SUBSTRING ${hex} ${begin} 6 digits)
    foreach(shift 18 12 6 0)
      math(EXPR sextet "(0x${digits} >> ${shift}) & 63")
      string(SUBSTRING ${alphabet} ${sextet} 1 letter)
      string(APPEND text ${letter})
    endforeach()
  endforeach()
  string(SUBSTRING ${text} 0 43 text)
  set(${out} "sha256-${text}=" PARENT_SCOPE)
endfunction()

set(TAMIS_EMBEDDED ${PROJECT_BINARY_DIR}/embedded.cpp)
set(embedded_files third_party/vega/LICENSE third_party/vega/vega.min.js third_party/vega/vega-lite.min.js
                   third_party/vega/vega-interpreter.min.js tamis/report/assets/report.js tamis/report/assets/report.css tamis/report/assets/report.html app/digits.npz)
set(embedded_source "// Made by cmake/Embed.cmake.\n#include \"tamis/report/embedded.h\"\n\n")
set(embedded_paths "")
foreach(file ${embedded_files})
  set(path ${PROJECT_SOURCE_DIR}/${file})
  list(APPEND embedded_paths ${path})
  string(REGEX REPLACE "^.*/" "" name ${file})
  string(REPLACE .min "" symbol ${name})
  string(REGEX REPLACE "[.-]" "_" symbol ${symbol})
  string(TOLOWER ${symbol} symbol)
  tamis_policy_hash(${path} hash)
  set(begin tamis_${symbol}_begin)
  set(end tamis_${symbol}_end)
  set(section .pushsection .rodata)
  set(hidden ".hidden ${begin}, ${end}")
  set(back .popsection)
  if(APPLE)  # C names begin with an underscore there
    set(begin _${begin})
    set(end _${end})
    set(section .section __TEXT,__const)
    set(hidden ".private_extern ${begin}\n.private_extern ${end}")
    set(back .text)
  endif()
  list(JOIN section " " section)
  string(APPEND embedded_source
         "asm(R\"(${section}\n.globl ${begin}\n.globl ${end}\n${hidden}\n"
         "${begin}:\n.incbin \"${path}\"\n${end}:\n${back})\");\n"
         "extern \"C\" __attribute__((visibility(\"hidden\"))) const char tamis_${symbol}_begin[], tamis_${symbol}_end[];\n"
         "tamis::EmbeddedFile tamis::embedded_${symbol}() {\n"
         "  return {{tamis_${symbol}_begin, tamis_${symbol}_end}, \"${hash}\"};\n}\n\n")
endforeach()
file(CONFIGURE OUTPUT ${TAMIS_EMBEDDED} CONTENT "${embedded_source}" @ONLY)
set_source_files_properties(${TAMIS_EMBEDDED} PROPERTIES OBJECT_DEPENDS "${embedded_paths}")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${embedded_paths})
