# liblcm, for the tests and benchmarks that compare with it: the target orc_lcm, if it is there. Not by pkg-config:
# Debian's lcm.pc asks for glib's headers, which liblcm-dev does not bring along and nobody here needs.
find_path(ORC_LCM_INCLUDE_DIR lcm/lcm.h)
find_library(ORC_LCM_LIBRARY lcm)
if(ORC_LCM_INCLUDE_DIR AND ORC_LCM_LIBRARY)
  add_library(orc_lcm INTERFACE IMPORTED GLOBAL)
  target_include_directories(orc_lcm SYSTEM INTERFACE ${ORC_LCM_INCLUDE_DIR})
  target_link_libraries(orc_lcm INTERFACE ${ORC_LCM_LIBRARY})
endif()
