# The installed package: find_package(orc-middleware) gives orc-middleware::orc, pkg-config gives orc-middleware.
# Headers, programs and the systemd unit are installed by the directories that own them.
include(CMakePackageConfigHelpers)
set(orc_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/orc-middleware)

install(EXPORT orc-middlewareTargets NAMESPACE orc-middleware:: DESTINATION ${orc_cmake_dir})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/orc-middlewareConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/orc-middlewareConfig.cmake INSTALL_DESTINATION ${orc_cmake_dir})
# 0.x promises nothing between minor versions (CHANGELOG.md).
write_basic_package_version_file(${PROJECT_BINARY_DIR}/orc-middlewareConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/orc-middlewareConfig.cmake ${PROJECT_BINARY_DIR}/orc-middlewareConfigVersion.cmake
        DESTINATION ${orc_cmake_dir})

cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
           OUTPUT_VARIABLE orc_pc_to_prefix)
configure_file(${CMAKE_CURRENT_LIST_DIR}/orc-middleware.pc.in ${PROJECT_BINARY_DIR}/orc-middleware.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/orc-middleware.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
