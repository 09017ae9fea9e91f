# Compile through ccache when it is there; a launcher the user chose wins.
find_program(ORC_CCACHE ccache)
if(ORC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ORC_CCACHE})
endif()
