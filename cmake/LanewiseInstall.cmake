# bin, lib, headers, and the two ways to find them: pkg-config and find_package(lanewise).
include(CMakePackageConfigHelpers)

if(TARGET lanewise_tool)
  install(TARGETS lanewise_tool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(TARGETS lanewise_shared lanewise_static EXPORT lanewise
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET lanewise_cuda)
  install(TARGETS lanewise_cuda lanewise_cudart12 lanewise_cudart13 lanewise_cudart_static
          LIBRARY DESTINATION ${LW_CUDA_DIR} ARCHIVE DESTINATION ${LW_CUDA_DIR})
  install(FILES ${PROJECT_BINARY_DIR}/lib/cuda/libcudart.so DESTINATION ${LW_CUDA_DIR})
endif()
if(TARGET lanewise_image)
  install(TARGETS lanewise_nvjitlink_12 lanewise_nvjitlink_13 LIBRARY DESTINATION ${LW_CUDA_DIR})
  install(TARGETS lanewise_ptxas RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET lanewise_jit)
  install(TARGETS lanewise_jit LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/lanewise)
endif()
install(DIRECTORY include/lanewise DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")

set(lw_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/lanewise)
install(EXPORT lanewise NAMESPACE lanewise:: FILE lanewiseTargets.cmake DESTINATION ${lw_package_dir})
configure_package_config_file(cmake/lanewiseConfig.cmake.in lanewiseConfig.cmake INSTALL_DESTINATION ${lw_package_dir})
write_basic_package_version_file(lanewiseConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lanewiseConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/lanewiseConfigVersion.cmake
        DESTINATION ${lw_package_dir})

file(RELATIVE_PATH LW_PC_UP /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
configure_file(cmake/lanewise.pc.in lanewise.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lanewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
