# orc_compile_together(<target> [ALONE <file>…])
# Most of the time of a file goes to the headers that its neighbours include too. The files of a target are therefore
# compiled many at a time. ALONE: files that use a name of their own which a neighbour uses for something else (add yours
# when it collides), and those that two targets link. `tools/dev lint` finds a missing include.
# CMake's UNITY_BUILD does the same, but names the files by absolute paths: another clone's cache has none of them then.
function(orc_compile_together target)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "ALONE")
  target_compile_options(${target} PRIVATE -Wno-shadow)  # of a neighbour's name
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wshadow=local)
  endif()
  list(TRANSFORM arg_ALONE PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
  get_target_property(files ${target} SOURCES)
  set(together "")
  set(number 0)
  foreach(file IN LISTS files)
    get_filename_component(path ${file} ABSOLUTE)
    if(path IN_LIST arg_ALONE OR path MATCHES "^${PROJECT_BINARY_DIR}/")  # there is what the build generates
      continue()
    endif()
    set_source_files_properties(${path} PROPERTIES HEADER_FILE_ONLY ON)
    file(RELATIVE_PATH path ${CMAKE_CURRENT_BINARY_DIR}/together ${path})
    string(APPEND together "#include \"${path}\"\n")
    math(EXPR number "${number} + 1")
    math(EXPR in_part "${number} % 16")
    if(in_part EQUAL 0)
      _orc_add_together(${target} ${number} "${together}")
      set(together "")
    endif()
  endforeach()
  if(together)
    _orc_add_together(${target} ${number} "${together}")
  endif()
endfunction()

function(_orc_add_together target number content)
  set(made ${CMAKE_CURRENT_BINARY_DIR}/together/${target}_${number}.cpp)
  file(CONFIGURE OUTPUT ${made} CONTENT "${content}" @ONLY)  # keeps a file that would be the same
  target_sources(${target} PRIVATE ${made})
endfunction()
