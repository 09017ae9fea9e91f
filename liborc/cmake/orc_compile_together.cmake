# orc_compile_together(<target> [ALONE <file>…])
# Most of the time of a file goes to the headers that its neighbours include too, and the sanitizers double it. Their
# presets therefore compile the files of a target ten at a time. ALONE: files that use a name of their own which a
# neighbour uses for something else (add yours when it collides), and those that two targets link. The other presets
# compile each file alone, so a missing include is found.
function(orc_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  if(NOT ORC_SANITIZE_FLAGS)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 10)
  target_compile_options(${target} PRIVATE -Wno-shadow)  # of a neighbour's name
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
