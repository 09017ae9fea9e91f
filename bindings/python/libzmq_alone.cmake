# libzmq inside the extension, invisible to others such as the pyzmq of PyPI, which has its own.
#
# libzmq.a of Debian and Ubuntu is position-independent, but compiled for programs: it reaches variables of other
# libraries directly, which a shared object may not. With libstdc++ and libsodium linked in, three of the C library are
# left, which src/libzmq_alone.cpp stands in for. Where that does not link, libzmq is used as it is installed: then its
# name (libzmq.so.5; in a wheel auditwheel renames it) keeps it apart.
find_library(ORC_LIBZMQ_ARCHIVE libzmq.a)
foreach(name sodium bsd md)
  find_library(ORC_LIB${name}_ARCHIVE lib${name}.a)
  if(ORC_LIB${name}_ARCHIVE)
    list(APPEND orc_libzmq_needs ${ORC_LIB${name}_ARCHIVE})
  endif()
endforeach()

set(orc_libzmq_options ${orc_hidden} -static-libstdc++ -static-libgcc)
foreach(variable stderr in6addr_any __libc_single_threaded)
  list(APPEND orc_libzmq_options -Wl,--wrap=${variable})
endforeach()
if(ORC_LIBZMQ_ARCHIVE)
  execute_process(COMMAND ${CMAKE_NM} -u ${ORC_LIBZMQ_ARCHIVE} OUTPUT_VARIABLE orc_undefined ERROR_QUIET)
  string(REGEX MATCHALL " U (gss_|GSS_|Norm|NORM_|pgm_)[A-Za-z0-9_]*" orc_left_out "${orc_undefined}")
  list(TRANSFORM orc_left_out REPLACE " U " "")
  list(REMOVE_DUPLICATES orc_left_out)
  foreach(name ${orc_left_out})
    list(APPEND orc_libzmq_options -Wl,--defsym=${name}=orc_left_out)
  endforeach()

  try_compile(ORC_LIBZMQ_ALONE
    ${CMAKE_CURRENT_BINARY_DIR}/libzmq_alone ${CMAKE_CURRENT_LIST_DIR}/libzmq_alone libzmq_alone
    CMAKE_FLAGS "-DOPTIONS=${orc_libzmq_options}" "-DARCHIVES=${ORC_LIBZMQ_ARCHIVE};${orc_libzmq_needs}"
                "-DSOURCE=${CMAKE_CURRENT_LIST_DIR}/src/libzmq_alone.cpp"
    OUTPUT_VARIABLE orc_libzmq_output)
endif()

if(ORC_LIBZMQ_ALONE)
  message(STATUS "libzmq: ${ORC_LIBZMQ_ARCHIVE}, inside the extension")
  target_sources(_native PRIVATE src/libzmq_alone.cpp)
  target_link_options(_native PRIVATE ${orc_libzmq_options})
  set_target_properties(PkgConfig::ZMQ PROPERTIES
    INTERFACE_LINK_LIBRARIES "${ORC_LIBZMQ_ARCHIVE};${orc_libzmq_needs}")
else()
  message(STATUS "libzmq: as installed (its archive cannot be linked into a shared object)")
  if(ORC_LIBZMQ_ARCHIVE)
    file(WRITE ${CMAKE_CURRENT_BINARY_DIR}/libzmq_alone.log "${orc_libzmq_output}")
  endif()
endif()
