# CPU levels: the rows of src/run/levels.def. Each file of src/run/interp/level/ is compiled once per level, with
#     LW_LEVEL           its name: to be pasted into the names that the file defines
#     LW_ISA_HEADER, LW_VECTOR_BYTES, LW_MASK_REGISTERS   its properties
# and src/run/level.c knows what was built from LW_BUILT_name, which is 1 or 0.

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS src/run/levels.def isa/lane.def)
file(STRINGS src/run/levels.def lw_rows REGEX "^LEVEL\\(")
set(lw_all_levels "")   # of every machine
set(lw_known_levels "") # of this one
set(lw_machine x86_64)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(lw_machine aarch64)
elseif(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|amd64|AMD64)$")
  set(lw_machine other)
endif()
foreach(row IN LISTS lw_rows)
  if(NOT row MATCHES "^LEVEL\\(([a-z0-9]+), ([a-z0-9_]+), ([a-z0-9_]+), ([0-9]+), ([01]), \"[^\"]*\", \"([^\"]*)\"\\)$")
    message(FATAL_ERROR "src/run/levels.def: cannot read ${row}")
  endif()
  set(level ${CMAKE_MATCH_1})
  set(lw_isa_${level} ${CMAKE_MATCH_2})
  set(lw_bytes_${level} ${CMAKE_MATCH_4})
  set(lw_masks_${level} ${CMAKE_MATCH_5})
  separate_arguments(lw_march_${level} UNIX_COMMAND "${CMAKE_MATCH_6}")
  list(APPEND lw_all_levels ${level})
  if(CMAKE_MATCH_3 MATCHES "^(any|${lw_machine})$")
    list(APPEND lw_known_levels ${level})
  endif()
endforeach()

set(LANEWISE_LEVELS all CACHE STRING "CPU levels to build, best first, or all: those of this machine's architecture, ${lw_known_levels}")
if(LANEWISE_LEVELS STREQUAL "all")
  set(LANEWISE_LEVELS ${lw_known_levels})
endif()
foreach(level IN LISTS LANEWISE_LEVELS)
  if(NOT level IN_LIST lw_all_levels)
    message(FATAL_ERROR "LANEWISE_LEVELS: '${level}' is not one of: ${lw_all_levels}")
  elseif(NOT level IN_LIST lw_known_levels)
    list(REMOVE_ITEM LANEWISE_LEVELS ${level}) # a preset may name it; this machine does not have it
  endif()
endforeach()
if(NOT "portable" IN_LIST LANEWISE_LEVELS AND NOT "neon" IN_LIST LANEWISE_LEVELS)
  message(FATAL_ERROR "LANEWISE_LEVELS: 'portable' must be among them; it runs where no other level does")
endif()
foreach(level IN LISTS lw_all_levels)
  set(built 0)
  if(level IN_LIST LANEWISE_LEVELS)
    set(built 1)
  endif()
  target_compile_definitions(lanewise_flags INTERFACE LW_BUILT_${level}=${built})
endforeach()

# What level/level.h and lanes.h are told of a level.
foreach(level IN LISTS LANEWISE_LEVELS)
  set(lw_definitions_${level} LW_LEVEL=${level} "LW_ISA_HEADER=\"run/interp/isa/${lw_isa_${level}}.h\"" LW_VECTOR_BYTES=${lw_bytes_${level}}
                              LW_MASK_REGISTERS=${lw_masks_${level}})
endforeach()

# No lane function reads errno or the exception flags; without these two options the compilers leave square roots and
# float selections scalar. Values do not depend on them.
set(lw_level_options -fno-math-errno -fno-trapping-math)
if(CMAKE_C_COMPILER_ID MATCHES Clang)
  list(APPEND lw_level_options -Wno-pass-failed) # the loops all ask to be vectorised; those over divisions cannot be
endif()

# -O3 unrolls the loops over a warp. With gcc that costs half as much again, which the level of old machines need not cost every build.
foreach(level IN LISTS lw_all_levels)
  set(lw_optimize_${level} -O3)
endforeach()
if(CMAKE_C_COMPILER_ID STREQUAL "GNU" AND NOT LANEWISE_LEVELS STREQUAL "portable")
  set(lw_optimize_portable -O2 -ftree-vectorize -fvect-cost-model=dynamic)
endif()

# Fuzzing looks for faults in what surrounds the lane functions; these have the Debug build's UBSan, which takes a minute a level here,
# and to vectorise them with coverage counters in their loops takes two more.
if(LANEWISE_FUZZ)
  list(APPEND lw_level_options -fno-sanitize=undefined)
  foreach(level IN LISTS lw_all_levels)
    set(lw_optimize_${level} -O1)
  endforeach()
endif()

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
      target_compile_definitions(lanewise_level_${level} PRIVATE ${lw_definitions_${level}})
      target_compile_options(lanewise_level_${level} PRIVATE ${lw_level_options} ${lw_march_${level}}
                                                              $<$<NOT:$<CONFIG:Debug>>:${lw_optimize_${level}}>)
      set_target_properties(lanewise_level_${level} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      list(APPEND made lanewise_level_${level})
    endforeach()
  endif()
  set(${out} ${made} PARENT_SCOPE)
endfunction()
