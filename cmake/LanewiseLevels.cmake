# CPU levels. Each file of src/run/interp/level/ is compiled once per level, with
#     LW_LEVEL         v4, v3, v2 or portable: to be pasted into the names that the file defines
#     LW_LEVEL_NUMBER  4, 3, 2, 1
# and all other files know what was built from LW_BUILT_v4, LW_BUILT_v3, LW_BUILT_v2, LW_BUILT_portable (1 or not defined).

if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(lw_known_levels v4 v3 v2 portable)
else()
  set(lw_known_levels portable)
endif()
set(LANEWISE_LEVELS all CACHE STRING "CPU levels to build, best first: v4;v3;v2;portable, or all")
if(LANEWISE_LEVELS STREQUAL "all")
  set(LANEWISE_LEVELS ${lw_known_levels})
endif()
if(NOT "v4" IN_LIST lw_known_levels)
  list(REMOVE_ITEM LANEWISE_LEVELS v4 v3 v2) # a preset may name them; this machine has none of them
endif()
foreach(level IN LISTS LANEWISE_LEVELS)
  if(NOT level IN_LIST lw_known_levels)
    message(FATAL_ERROR "LANEWISE_LEVELS: '${level}' is not one of: ${lw_known_levels}")
  endif()
endforeach()
if(NOT "portable" IN_LIST LANEWISE_LEVELS)
  message(FATAL_ERROR "LANEWISE_LEVELS: 'portable' must be among them; it runs where no other level does")
endif()
list(TRANSFORM LANEWISE_LEVELS PREPEND LW_BUILT_ OUTPUT_VARIABLE lw_built)
list(TRANSFORM lw_built APPEND =1)
target_compile_definitions(lanewise_flags INTERFACE ${lw_built})

set(lw_number_v4 4)
set(lw_number_v3 3)
set(lw_number_v2 2)
set(lw_number_portable 1)
# The interpreter clears the upper halves of vector registers once a turn, not once a step.
set(lw_march_v4 -march=x86-64-v4 -mprefer-vector-width=512 -mno-vzeroupper)
set(lw_march_v3 -march=x86-64-v3 -mno-vzeroupper)
set(lw_march_v2 -march=x86-64-v2)
set(lw_march_portable "")

# No lane function reads errno or the exception flags; without these two options the compilers leave square roots and
# float selections scalar. Values do not depend on them.
set(lw_level_options -fno-math-errno -fno-trapping-math)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  list(APPEND lw_level_options -Wno-pass-failed) # the loops all ask to be vectorised; those over divisions cannot be
endif()

# -O3 unrolls the loops over a warp. With gcc that more than doubles the time to compile, which the two levels of old machines
# need not cost every build.
set(lw_optimize_v4 -O3)
set(lw_optimize_v3 -O3)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT LANEWISE_LEVELS STREQUAL "portable")
  set(lw_optimize_v2 -O2 -ftree-vectorize -fvect-cost-model=dynamic)
  set(lw_optimize_portable ${lw_optimize_v2})
else()
  set(lw_optimize_v2 -O3)
  set(lw_optimize_portable -O3)
endif()

# Fuzzing looks for faults in what surrounds the lane functions; these have the Debug build's UBSan, which takes a minute a level here,
# and to vectorise them with coverage counters in their loops takes two more.
if(LANEWISE_FUZZ)
  list(APPEND lw_level_options -fno-sanitize=undefined)
  foreach(level IN LISTS lw_known_levels)
    set(lw_optimize_${level} -O1)
  endforeach()
endif()

set(lw_isa_v4 x86_avx512)
set(lw_isa_v3 x86_avx2)
set(lw_isa_v2 x86_avx2)
set(lw_isa_portable generic)

# The families of lane functions: one object each a level, of a file that says which. isa/lane.def must have them all.
file(GLOB lw_family_files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/isa/lane/*.def)
file(READ ${PROJECT_SOURCE_DIR}/isa/lane.def lw_lane_def)
set(lw_family_sources "")
foreach(file IN LISTS lw_family_files)
  get_filename_component(family ${file} NAME_WE)
  if(NOT family STREQUAL inner AND NOT lw_lane_def MATCHES "#include \"lane/${family}[.]def\"")
    message(FATAL_ERROR "isa/lane.def does not include lane/${family}.def")
  endif()
  set(source ${PROJECT_BINARY_DIR}/families/${family}.c)
  file(CONFIGURE OUTPUT ${source} CONTENT "#define LW_FAMILY \"lane/${family}.def\"\n#include \"run/interp/level/lanes.c\"\n")
  list(APPEND lw_family_sources ${source})
endforeach()

# Adds the object library lanewise_level_LEVEL for each level; the names go to OUT.
function(lw_add_levels out)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/run/interp/level/*.c)
  list(FILTER sources EXCLUDE REGEX "/lanes[.]c$") # by families
  set(made "")
  if(sources)
    foreach(level IN LISTS LANEWISE_LEVELS)
      add_library(lanewise_level_${level} OBJECT ${sources} ${lw_family_sources})
      target_link_libraries(lanewise_level_${level} PRIVATE lanewise_flags)
      target_compile_definitions(lanewise_level_${level} PRIVATE LW_LEVEL=${level} LW_LEVEL_NUMBER=${lw_number_${level}}
                                                                  LW_ISA_HEADER="run/interp/isa/${lw_isa_${level}}.h")
      target_compile_options(lanewise_level_${level} PRIVATE ${lw_level_options} ${lw_march_${level}}
                                                              $<$<NOT:$<CONFIG:Debug>>:${lw_optimize_${level}}>)
      set_target_properties(lanewise_level_${level} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      list(APPEND made lanewise_level_${level})
    endforeach()
  endif()
  set(${out} ${made} PARENT_SCOPE)
endfunction()
