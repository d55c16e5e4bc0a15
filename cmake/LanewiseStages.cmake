# One object library per folder of src/: lanewise_base, lanewise_front …

# Steps that run between those of the CPU levels and compute with masks and addresses only: vector registers, in which compilers like to
# copy them, hold them up (lw_clear_upper_halves in run/interp/interp.h).
if(lw_machine STREQUAL "x86_64")
  foreach(file IN ITEMS flow frame call sync count pass)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/run/interp/${file}.c PROPERTIES COMPILE_OPTIONS -mgeneral-regs-only)
  endforeach()
  # Two counters at once, each written by itself just before, wait for both stores.
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/run/grid.c PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
endif()

# Adds the stages and sets LW_STAGE_OBJECTS to all objects, those of the CPU levels included.
function(lw_add_stages)
  lw_add_levels(levels)
  set(made ${levels})
  foreach(stage IN LISTS ARGN)
    file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${stage}/*.c)
    list(FILTER sources EXCLUDE REGEX "/src/run/(interp/level|jit)/")
    if(sources)
      add_library(lanewise_${stage} OBJECT ${sources})
      target_link_libraries(lanewise_${stage} PRIVATE lanewise_flags)
      set_target_properties(lanewise_${stage} PROPERTIES POSITION_INDEPENDENT_CODE ON)
      list(APPEND made lanewise_${stage})
    endif()
  endforeach()
  list(TRANSFORM made REPLACE "(.+)" "$<TARGET_OBJECTS:\\1>")
  set(LW_STAGE_OBJECTS ${made} PARENT_SCOPE)
endfunction()
