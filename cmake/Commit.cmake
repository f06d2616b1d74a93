# TAMIS_COMMIT, TAMIS_COMMIT_DATE: the commit that is built, which --version shows, and its day, which manual pages show;
# empty where they cannot be known.
#
# In a checkout git knows it. In an archive that git made (and the source distribution is made of one), it stands in
# commit.txt, where git puts it (.gitattributes). A tree unpacked inside another repository is not that repository's.
set(TAMIS_COMMIT "")
set(TAMIS_COMMIT_DATE "")
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/commit.txt words LIMIT_COUNT 1)
if(words MATCHES "^([0-9a-f]+) ([0-9-]+)$")
  set(TAMIS_COMMIT_DATE ${CMAKE_MATCH_2})
  string(SUBSTRING ${CMAKE_MATCH_1} 0 10 TAMIS_COMMIT)
else()  # not an archive
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} rev-parse --show-toplevel --short=10 HEAD
                  OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%cs
                  OUTPUT_VARIABLE date OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  string(REGEX MATCH "^(.*)\n([0-9a-f]+)$" words "${words}")
  file(REAL_PATH "${CMAKE_MATCH_1}" top)
  file(REAL_PATH ${PROJECT_SOURCE_DIR} here)
  if(failed EQUAL 0 AND top STREQUAL here)
    set(TAMIS_COMMIT ${CMAKE_MATCH_2})
    set(TAMIS_COMMIT_DATE ${date})
  endif()
endif()

# A source of its own, so that a new commit costs one small compilation.
set(TAMIS_COMMIT_SOURCE ${PROJECT_BINARY_DIR}/commit.cpp)
file(CONFIGURE OUTPUT ${TAMIS_COMMIT_SOURCE} @ONLY CONTENT [[
// Made by cmake/Commit.cmake.
#include "app/version.h"

const char* tamis::app::commit() { return "@TAMIS_COMMIT@"; }
const char* tamis::app::commit_date() { return "@TAMIS_COMMIT_DATE@"; }
]])
