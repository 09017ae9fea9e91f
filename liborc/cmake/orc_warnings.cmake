# The top level applies these to every target.
add_library(orc_warnings INTERFACE)
target_compile_options(orc_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wdouble-promotion -Wold-style-cast -Wcast-align
  -Wcast-qual -Wnon-virtual-dtor -Woverloaded-virtual -Wformat=2 -Wundef -Wvla -Wextra-semi)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(orc_warnings INTERFACE -Wduplicated-cond -Wduplicated-branches -Wlogical-op)
  # GCC 12 and 13 report false positives from inside std::string and std::vector once they are inlined
  # (PR 105329, 105651, 107852); under a sanitizer also for variables that are set on every path.
  target_compile_options(orc_warnings INTERFACE -Wno-restrict -Wno-error=array-bounds -Wno-error=stringop-overflow
                                                -Wno-error=stringop-overread)
  if(ORC_SANITIZE)
    target_compile_options(orc_warnings INTERFACE -Wno-maybe-uninitialized)
  endif()
endif()
if(ORC_WERROR)
  target_compile_options(orc_warnings BEFORE INTERFACE -Werror)
endif()
