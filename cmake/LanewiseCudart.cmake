# The CUDA runtime, over the driver's public functions: beside the driver, for programs that are linked with the shared one, and as an
# archive for those that want it inside. It needs nothing of ours, and looks up the driver when it is first called.
file(GLOB cudart_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/shim/cudart/*.c)

# One for each major version: names differ in what they take, and each library has a symbol version of its own.
function(lw_add_cudart version)
  set(target lanewise_cudart${version})
  set(exports ${PROJECT_SOURCE_DIR}/src/shim/cudart/exports${version}.map)
  add_library(${target} SHARED ${cudart_sources})
  # Named by hand: CMake would give both the same link without a version.
  set_target_properties(${target} PROPERTIES PREFIX "" OUTPUT_NAME libcudart SUFFIX .so.${version} NO_SONAME ON LINK_DEPENDS ${exports}
                                             LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/cuda
                                             BUILD_RPATH "\$ORIGIN" INSTALL_RPATH "\$ORIGIN")
  target_link_libraries(${target} PRIVATE lanewise_flags Threads::Threads ${CMAKE_DL_LIBS})
  target_link_options(${target} PRIVATE -Wl,-soname,libcudart.so.${version} -Wl,--version-script=${exports})
endfunction()

if(TARGET lanewise_cuda)
  lw_add_cudart(12)
  lw_add_cudart(13)
  target_compile_definitions(lanewise_cudart12 PRIVATE LW_RT_BEFORE13)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/lib/cuda)
  file(CREATE_LINK libcudart.so.13 ${PROJECT_BINARY_DIR}/lib/cuda/libcudart.so SYMBOLIC)
  add_library(lanewise_cudart_static STATIC ${cudart_sources})
  set_target_properties(lanewise_cudart_static PROPERTIES OUTPUT_NAME cudart_static POSITION_INDEPENDENT_CODE ON
                                                          ARCHIVE_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/cuda)
  target_link_libraries(lanewise_cudart_static PRIVATE lanewise_flags)
endif()
