# orc_compile_together(<target> [ALONE <file>…])
# Most of the time of a file goes to the headers that its neighbours include too. The files of a target are therefore
# compiled many at a time. ALONE: files that use a name of their own which a neighbour uses for something else (add yours
# when it collides), and those that two targets link. `tools/dev lint` finds a missing include.
function(orc_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 16)
  target_compile_options(${target} PRIVATE -Wno-shadow)  # of a neighbour's name
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wshadow=local)
  endif()
  set_source_files_properties(${arg_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()
