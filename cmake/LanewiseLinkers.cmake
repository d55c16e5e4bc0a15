# Beside the driver, under the names of both versions that programs ask for: nvJitLink over the same linker; and what programs run in ptxas's
# place.
if(TARGET lanewise_image)
  foreach(major 12 13)
    set(nvjitlink_exports ${PROJECT_SOURCE_DIR}/src/shim/nvjitlink/exports-${major}.map)
    add_library(lanewise_nvjitlink_${major} MODULE ${PROJECT_SOURCE_DIR}/src/shim/nvjitlink/nvjitlink.c)
    set_target_properties(lanewise_nvjitlink_${major} PROPERTIES OUTPUT_NAME nvJitLink SUFFIX .so.${major}
                          LINK_DEPENDS ${nvjitlink_exports} LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/cuda)
    target_link_libraries(lanewise_nvjitlink_${major} PRIVATE lanewise_flags lanewise_image lanewise_static Threads::Threads m)
    target_link_options(lanewise_nvjitlink_${major} PRIVATE -Wl,--version-script=${nvjitlink_exports} -Wl,-soname,libnvJitLink.so.${major})
  endforeach()
  file(GLOB ptxas_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/shim/ptxas/*.c)
  add_executable(lanewise_ptxas ${ptxas_sources})
  set_target_properties(lanewise_ptxas PROPERTIES OUTPUT_NAME lanewise-ptxas)
  target_link_libraries(lanewise_ptxas PRIVATE lanewise_flags lanewise_image lanewise_static Threads::Threads m)
endif()
