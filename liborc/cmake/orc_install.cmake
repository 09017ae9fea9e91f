# The installed package: find_package(orc) gives orc::orc, orc::calls and orc::parameters, pkg-config gives orc,
# orc-calls and orc-parameters. Headers, programs and the systemd unit are installed by the directories that own them.
include(CMakePackageConfigHelpers)
set(orc_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/orc)

install(EXPORT orcTargets NAMESPACE orc:: DESTINATION ${orc_cmake_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/orcConfig.cmake.in ${PROJECT_BINARY_DIR}/orcConfig.cmake
                              INSTALL_DESTINATION ${orc_cmake_dir})
# 0.x promises nothing between minor versions (CHANGELOG.md).
write_basic_package_version_file(${PROJECT_BINARY_DIR}/orcConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/orcConfig.cmake ${PROJECT_BINARY_DIR}/orcConfigVersion.cmake
        DESTINATION ${orc_cmake_dir})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
           OUTPUT_VARIABLE orc_pc_to_prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/orc.pc.in ${PROJECT_BINARY_DIR}/orc.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/orc.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
foreach(component calls parameters)
  if(TARGET orc_${component})
    configure_file(${CMAKE_CURRENT_LIST_DIR}/orc-${component}.pc.in ${PROJECT_BINARY_DIR}/orc-${component}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/orc-${component}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
  endif()
endforeach()
