# Compile through ccache when it is there; a launcher the user chose wins. What one build tree or clone has compiled, the
# others do not compile again.
find_program(ORC_CCACHE ccache)
set(ORC_CACHED_PCH_OPTIONS "")  # for what is compiled with a precompiled header
if(ORC_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
      CCACHE_INODECACHE=1 CCACHE_DEPEND=1 CCACHE_SLOPPINESS=pch_defines,time_macros ${ORC_CCACHE})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set(ORC_CACHED_PCH_OPTIONS -fpch-preprocess)  # else the preprocessed text, which ccache hashes, lacks the header
  endif()
endif()
