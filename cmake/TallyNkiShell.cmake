# Writes the manual pages of `tally-nki` and its completion, as an installed program says them.
#
#   program   the program
#   share     the folder of bash-completion/ and zsh/
#   manual    the folder of the pages
#
# A machine without NumPy cannot run the program, and gets no such files.
function(tally_nki_file path)
  get_filename_component(folder "${path}" DIRECTORY)
  file(MAKE_DIRECTORY "${folder}")
  execute_process(COMMAND "${program}" ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE error RESULT_VARIABLE status)
  if(status EQUAL 0)
    file(WRITE "${path}" "${text}")
    message(STATUS "Installing: ${path}")
  else()
    message(STATUS "not installed: ${path}: ${error}")
  endif()
endfunction()

tally_nki_file("${manual}/tally-nki.1" --manual)
tally_nki_file("${manual}/tally-nki-corpus.1" corpus --manual)
tally_nki_file("${manual}/tally-nki-compare.1" compare --manual)
tally_nki_file("${share}/bash-completion/completions/tally-nki" --completion=bash)
tally_nki_file("${share}/zsh/site-functions/_tally-nki" --completion=zsh)
