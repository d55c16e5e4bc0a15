# How every file of the project is compiled: the interface library lanewise_flags.

if(NOT CMAKE_C_COMPILER_ID MATCHES "^(GNU|Clang|AppleClang)$")
  message(FATAL_ERROR "Lanewise needs gcc 12 or clang 14, or newer: ${CMAKE_C_COMPILER_ID} has no GNU vector extensions")
endif()
if((CMAKE_C_COMPILER_ID STREQUAL "GNU" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 12)
   OR (CMAKE_C_COMPILER_ID STREQUAL "Clang" AND CMAKE_C_COMPILER_VERSION VERSION_LESS 14))
  message(FATAL_ERROR "Lanewise needs gcc 12 or clang 14, or newer; this is ${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION}")
endif()

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)

add_library(lanewise_flags INTERFACE)
target_include_directories(lanewise_flags INTERFACE ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/isa
                                                    ${PROJECT_SOURCE_DIR}/include)
# Both compilers fuse a*b+c by default; the lane functions say what is fused. The ABI note about wide vectors is about calls
# between files, and none of ours passes a vector.
target_compile_options(lanewise_flags INTERFACE -Wall -Wextra -Wno-psabi -ffp-contract=off -fvisibility=hidden
                                                $<$<BOOL:${LANEWISE_WERROR}>:-Werror>)

set(lw_sanitize ${LANEWISE_SANITIZE})
if(LANEWISE_FUZZ)
  if(NOT CMAKE_C_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "LANEWISE_FUZZ needs clang: configure with -DCMAKE_C_COMPILER=clang")
  endif()
  if(NOT lw_sanitize)
    set(lw_sanitize address,undefined)
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
if(lw_sanitize)
  # For the whole directory, so that test programs and both libraries agree.
  add_compile_options(-fsanitize=${lw_sanitize} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${lw_sanitize})
endif()
