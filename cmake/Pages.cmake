# cmake -DCOMMAND=build/tamis -DOUT=FOLDER -P Pages.cmake: the manual pages and the completions that the command prints.
function(print file)
  execute_process(COMMAND ${COMMAND} ${ARGN} OUTPUT_FILE ${OUT}/${file} COMMAND_ERROR_IS_FATAL ANY)
endfunction()

file(MAKE_DIRECTORY ${OUT}/man1)
foreach(shell bash zsh fish)
  print(tamis.${shell} completion ${shell})
endforeach()
print(man1/tamis.1 manual)
file(STRINGS ${OUT}/man1/tamis.1 commands REGEX "^\\.BR tamis")  # its last section names the others
foreach(line ${commands})
  string(REGEX REPLACE "^\\.BR tamis[\\]-([a-z]+) .*" "\\1" command "${line}")
  print(man1/tamis-${command}.1 manual ${command})
endforeach()
