# How tests are registered.

find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)
if(NOT CMOCKA_FOUND)
  message(FATAL_ERROR "LANEWISE_TESTS needs cmocka and pkg-config; script/bootstrap installs them")
endif()

# Runs a command at a CPU level, or skips it with a line that says so.
add_executable(at_level ${PROJECT_SOURCE_DIR}/tests/at_level.c)
target_link_libraries(at_level PRIVATE lanewise_flags)

# A cross build's programs run in the toolchain's emulator: those that tests start by their path through a script.
set(LW_TOOL $<TARGET_FILE:lanewise_tool>)
if(CMAKE_CROSSCOMPILING)
  set(LW_TOOL ${PROJECT_BINARY_DIR}/emulated/lanewise)
  file(CONFIGURE OUTPUT ${LW_TOOL} CONTENT "#!/bin/sh\nexec ${CMAKE_CROSSCOMPILING_EMULATOR} ${PROJECT_BINARY_DIR}/bin/lanewise \"$@\"\n" @ONLY)
  file(CHMOD ${LW_TOOL} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE)
endif()

# intercept_tls_get_addr: LeakSanitizer takes the size of a late library's thread-local memory from bytes in front of it, and may crash when LLVM is one.
# LANEWISE_CACHE: nothing that an earlier run has compiled, and nothing in the folders of whoever runs the tests.
set(lw_test_environment
    LANEWISE_CACHE=off
    ASAN_OPTIONS=allocator_may_return_null=1:detect_stack_use_after_return=1:intercept_tls_get_addr=0
    UBSAN_OPTIONS=print_stacktrace=1
    TSAN_OPTIONS=halt_on_error=1)
# Builds beside the first one, by clang or for a sanitizer, run some of what the first one runs all of: the tests ask for this variable.
if(NOT LANEWISE_TEST_PREFIX STREQUAL "")
  list(APPEND lw_test_environment LW_TEST_FEW=1)
endif()
if(LANEWISE_SANITIZE MATCHES thread)
  list(APPEND lw_test_environment LANEWISE_THREADS=4) # races need threads, whatever the machine has
endif()

# lw_add_test(NAME name COMMAND command… [ONCE] [JIT level…] [AUTO level…] [LABELS label…] [TIMEOUT seconds] [ENVIRONMENT name=value…] [SERIAL])
# Registers name@LEVEL for each CPU level that is built, with LANEWISE_CPU set; with ONCE only `name`, for what does not
# execute kernels. For each level behind JIT that is built, name@LEVEL+jit too: the same by the engine that compiles, where it is built; "best" is the
# machine's best one. Behind AUTO name@LEVEL+auto likewise: by the engine auto, which has compiled each kernel when its first CTA begins.
# A build for the tests of one label registers those by an engine that compiles where the label LABEL+jit is there, too.
# A test that exits with 77 is skipped, and says why on its output.
function(lw_add_test)
  cmake_parse_arguments(PARSE_ARGV 0 arg "ONCE;SERIAL" "NAME;TIMEOUT" "COMMAND;LABELS;ENVIRONMENT;JIT;AUTO")
  if(arg_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "lw_add_test(${arg_NAME}): what is '${arg_UNPARSED_ARGUMENTS}'?")
  endif()
  set(plain ON)    # by the engine that is usual
  set(compiled ON) # by the one that compiles
  if(LANEWISE_TEST_LABEL AND NOT LANEWISE_TEST_LABEL IN_LIST arg_LABELS)
    set(plain OFF)
  endif()
  # The code that is made does not depend on who compiled the compiler: of the build by clang its unit tests are enough.
  if(NOT TARGET lanewise_jit OR (LANEWISE_TEST_PREFIX STREQUAL "clang/" AND arg_NAME MATCHES "/")
     OR (LANEWISE_TEST_LABEL AND NOT "${LANEWISE_TEST_LABEL}+jit" IN_LIST arg_LABELS))
    set(compiled OFF)
  endif()
  if(NOT plain AND NOT compiled)
    return()
  endif()
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 300)
  endif()
  foreach(word IN LISTS arg_COMMAND)
    if(TARGET "${word}")
      set_property(GLOBAL APPEND PROPERTY LW_TESTED ${word})
    elseif(word MATCHES "TARGET_FILE:([a-z0-9_]+)>")
      set_property(GLOBAL APPEND PROPERTY LW_TESTED ${CMAKE_MATCH_1})
    elseif(word STREQUAL LW_TOOL)
      set_property(GLOBAL APPEND PROPERTY LW_TESTED lanewise_tool)
    endif()
  endforeach()
  set(levels "")
  if(plain)
    set(levels ${LANEWISE_LEVELS})
    if(arg_ONCE)
      set(levels once)
    endif()
  endif()
  list(GET arg_COMMAND 0 program)
  if(TARGET ${program})
    list(REMOVE_AT arg_COMMAND 0)
    list(PREPEND arg_COMMAND ${CMAKE_CROSSCOMPILING_EMULATOR} $<TARGET_FILE:${program}>)
  endif()
  if(compiled)
    foreach(engine IN ITEMS JIT AUTO)
      string(TOLOWER ${engine} word)
      foreach(level IN LISTS arg_${engine})
        if(level STREQUAL best OR level IN_LIST LANEWISE_LEVELS)
          list(APPEND levels ${level}+${word})
        endif()
      endforeach()
    endforeach()
  endif()
  foreach(level IN LISTS levels)
    set(name ${LANEWISE_TEST_PREFIX}${arg_NAME})
    set(command ${arg_COMMAND})
    set(environment ${lw_test_environment} ${arg_ENVIRONMENT})
    if(NOT arg_ONCE)
      string(APPEND name @${level})
      set(command at_level ${level} ${arg_COMMAND})
    endif()
    set(cost 0)
    if(CMAKE_CROSSCOMPILING AND level MATCHES "[+]jit$") # the longest begin first: LLVM in an emulator
      set(cost 1000)
    endif()
    add_test(NAME ${name} COMMAND ${command})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77 TIMEOUT ${arg_TIMEOUT} LABELS "${arg_LABELS}" COST ${cost}
                                            RUN_SERIAL ${arg_SERIAL} ENVIRONMENT "${environment}")
  endforeach()
endfunction()

# lw_add_unit(name sources… [ONCE] [JIT level…] [AUTO level…] [LABELS …] [TIMEOUT …]): a cmocka program that sees every stage from inside, as one test.
function(lw_add_unit name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "ONCE;SERIAL" "TIMEOUT" "LABELS;ENVIRONMENT;JIT;AUTO")
  add_executable(${name} ${arg_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE lanewise_flags lanewise_static PkgConfig::CMOCKA Threads::Threads m)
  set(options "")
  foreach(flag ONCE SERIAL)
    if(arg_${flag})
      list(APPEND options ${flag})
    endif()
  endforeach()
  lw_add_test(NAME ${name} COMMAND ${name} ${options} TIMEOUT ${arg_TIMEOUT} JIT ${arg_JIT} AUTO ${arg_AUTO} LABELS ${arg_LABELS} ENVIRONMENT ${arg_ENVIRONMENT})
endfunction()

# A build for the tests of one label makes what these run, and nothing else. To be called when all tests are registered.
function(lw_build_only_tested)
  get_property(tested GLOBAL PROPERTY LW_TESTED)
  list(REMOVE_DUPLICATES tested)
  foreach(target lanewise_shared lanewise_tool lanewise_cuda silicon accuracy)
    if(TARGET ${target})
      set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL TRUE)
    endif()
  endforeach()
  add_custom_target(lanewise_tested ALL DEPENDS at_level ${tested})
endfunction()
