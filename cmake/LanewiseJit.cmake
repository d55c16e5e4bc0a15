# The compiler, a library that Lanewise opens where somebody asks for it: src/run/jit, LLVM, and the lane functions as bitcode.
# It needs LLVM 14 or newer with its C interface, and the clang of the same version. A cross build takes headers and clang of
# the machine that builds, and the same version's library of the other one.

set(LANEWISE_LLVM "" CACHE STRING "Version of LLVM for the compiler, such as 19; default: the distribution's own, or any that is there")
set(lw_versions 14 15 16 17 18 19)
list(TRANSFORM lw_versions PREPEND llvm-config- OUTPUT_VARIABLE lw_llvm_names)
if(LANEWISE_LLVM)
  find_program(LW_LLVM_CONFIG_${LANEWISE_LLVM} NAMES llvm-config-${LANEWISE_LLVM} HINTS /usr/lib/llvm-${LANEWISE_LLVM}/bin)
  mark_as_advanced(LW_LLVM_CONFIG_${LANEWISE_LLVM})
  set(LLVM_CONFIG ${LW_LLVM_CONFIG_${LANEWISE_LLVM}}) # in front of one that was found earlier
else()
  find_program(LLVM_CONFIG NAMES llvm-config ${lw_llvm_names})
endif()
set(lw_has_llvm OFF)
if(LLVM_CONFIG)
  foreach(what version includedir bindir libdir)
    execute_process(COMMAND ${LLVM_CONFIG} --${what} OUTPUT_VARIABLE lw_llvm_${what} OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endforeach()
  execute_process(COMMAND ${LLVM_CONFIG} --link-shared --libs OUTPUT_VARIABLE lw_llvm_libs OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  find_file(LW_LLVM_CLANG_${lw_llvm_version} clang PATHS ${lw_llvm_bindir} NO_DEFAULT_PATH)
  mark_as_advanced(LW_LLVM_CLANG_${lw_llvm_version})
  set(LW_LLVM_CLANG ${LW_LLVM_CLANG_${lw_llvm_version}})
  set(lw_clang_target "")
  if(CMAKE_CROSSCOMPILING)
    string(REPLACE "-l" "" lw_llvm_name "${lw_llvm_libs}")
    find_library(LW_LLVM_LIBRARY_${lw_llvm_version} ${lw_llvm_name})
    mark_as_advanced(LW_LLVM_LIBRARY_${lw_llvm_version})
    set(lw_llvm_libs ${LW_LLVM_LIBRARY_${lw_llvm_version}})
    set(lw_llvm_libdir "")
    set(lw_clang_target --target=${CMAKE_C_COMPILER_TARGET})
  endif()
  if(lw_llvm_version VERSION_GREATER_EQUAL 14 AND lw_llvm_libs AND LW_LLVM_CLANG AND EXISTS ${lw_llvm_includedir}/llvm-c/LLJIT.h)
    set(lw_has_llvm ON)
  endif()
endif()
option(LANEWISE_JIT "Build the compiler (needs LLVM 14 or newer and its clang)" ${lw_has_llvm})

if(LANEWISE_JIT AND NOT lw_has_llvm)
  message(FATAL_ERROR "LANEWISE_JIT: no llvm-config of LLVM 14 or newer with clang beside it (Debian: llvm-dev, clang; of a cross build its library, too); script/bootstrap installs them")
endif()
if(NOT LANEWISE_JIT)
  message(STATUS "The compiler is not built: LLVM 14 or newer with its clang was not there or you said so; -DLANEWISE_JIT=ON turns it on")
  return()
endif()

# It is the same in every build, whatever compiler and sanitizer makes the rest.
set(LANEWISE_BITCODE "" CACHE PATH "Folder of another build, of the same sources, that has the lane functions as bitcode; default: made here")
set(lw_bitcode_dir ${PROJECT_BINARY_DIR}/bitcode)
if(LANEWISE_BITCODE)
  set(lw_bitcode_dir ${LANEWISE_BITCODE})
endif()
set(lw_bitcode "")
foreach(level IN LISTS LANEWISE_LEVELS)
  set(file ${lw_bitcode_dir}/lanes_${level}.bc)
  list(APPEND lw_bitcode ${file})
  if(LANEWISE_BITCODE)
    continue()
  endif()
  set(lanes 8) # computed side by side: one or two vectors of 32-bit elements
  if(lw_bytes_${level} EQUAL 64)
    set(lanes 16)
  endif()
  list(TRANSFORM lw_definitions_${level} PREPEND -D OUTPUT_VARIABLE definitions)
  add_custom_command(
    OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${lw_bitcode_dir}
    COMMAND ${LW_LLVM_CLANG} ${lw_clang_target} -std=gnu17 -O3 ${lw_march_${level}} -ffp-contract=off -fno-math-errno -fno-trapping-math -fno-strict-aliasing
            -fno-unroll-loops -mllvm -inline-threshold=20000 # neither of the loops nor of calls in them could vectors be made
            -DLANES=${lanes} ${definitions} -Wno-pass-failed -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/isa -I${PROJECT_SOURCE_DIR}/include
            -MD -MF ${file}.d -MT ${file} -emit-llvm -c ${PROJECT_SOURCE_DIR}/src/run/jit/lanes.c -o ${file}.loops
    COMMAND ${LW_LLVM_CLANG} ${lw_clang_target} -O1 ${lw_march_${level}} -Wno-pass-failed -x ir ${file}.loops -emit-llvm -c -o ${file} # loops of one round are none
    DEPENDS ${PROJECT_SOURCE_DIR}/src/run/jit/lanes.c
    DEPFILE ${file}.d
    COMMENT "Lane functions as bitcode, level ${level}"
    VERBATIM)
endforeach()

file(GLOB lw_jit_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/run/jit/*.c)
list(FILTER lw_jit_sources EXCLUDE REGEX "/lanes[.]c$")
add_library(lanewise_jit MODULE ${lw_jit_sources} ${PROJECT_SOURCE_DIR}/src/middle/row.c ${PROJECT_SOURCE_DIR}/src/middle/live.c
                                ${PROJECT_SOURCE_DIR}/src/middle/facts.c ${PROJECT_SOURCE_DIR}/src/middle/uniform.c ${PROJECT_SOURCE_DIR}/src/middle/indexed.c
                                ${PROJECT_SOURCE_DIR}/src/base/lane_id.c
                                ${PROJECT_SOURCE_DIR}/src/base/text.c ${PROJECT_SOURCE_DIR}/src/base/symbol.c ${PROJECT_SOURCE_DIR}/src/base/hash.c ${PROJECT_SOURCE_DIR}/src/base/arena.c)
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/run/jit/session.c PROPERTIES OBJECT_DEPENDS "${lw_bitcode}")
set_source_files_properties(${PROJECT_SOURCE_DIR}/src/run/jit/rescue.c PROPERTIES COMPILE_OPTIONS -fexceptions) # of others, on their way through it
target_compile_definitions(lanewise_jit PRIVATE LW_JIT_BITCODE="${lw_bitcode_dir}")
target_include_directories(lanewise_jit SYSTEM PRIVATE ${lw_llvm_includedir})
target_link_directories(lanewise_jit PRIVATE ${lw_llvm_libdir})
target_link_libraries(lanewise_jit PRIVATE lanewise_flags ${lw_llvm_libs} Threads::Threads m)
target_link_options(lanewise_jit PRIVATE -Wl,-z,nodelete -Wl,--build-id=sha1) # object.c tells builds apart by it
if(NOT LANEWISE_SANITIZE) # whose functions the program brings
  target_link_options(lanewise_jit PRIVATE -Wl,-z,defs)
endif()
set_target_properties(lanewise_jit PROPERTIES OUTPUT_NAME jit PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/lib/lanewise)
