# SPDX-License-Identifier: Apache-2.0
# Every option of the build; docs/building.md describes each (scripts/check_building.py compares).
include(CMakeDependentOption)

if(PROJECT_IS_TOP_LEVEL)
  option(BUILD_TESTING "Build tests: OFF leaves out the tests, and the examples unless they are asked for" ON)
endif()
set(EVENKEEL_COMPONENTS "" CACHE STRING
  "Libraries to build, with those that they need: a list such as workqueue;client. Empty: all, and all programs")

cmake_dependent_option(EVENKEEL_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL}
  "BUILD_TESTING OR NOT DEFINED BUILD_TESTING;NOT EVENKEEL_COMPONENTS" OFF)
cmake_dependent_option(EVENKEEL_BUILD_EXAMPLES "Build the examples" ${EVENKEEL_BUILD_TESTS} "NOT EVENKEEL_COMPONENTS" OFF)
cmake_dependent_option(EVENKEEL_BUILD_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" OFF
  "NOT EVENKEEL_COMPONENTS" OFF)
cmake_dependent_option(EVENKEEL_BUILD_TOOLS "Build the programs evenkeel, evenkeel-curve and coordctl"
  ${PROJECT_IS_TOP_LEVEL} "NOT EVENKEEL_COMPONENTS" OFF)
option(EVENKEEL_BUILD_TESTING_LIBRARY "Build evenkeel::apiserver, evenkeel::testing and their programs" ON)
option(EVENKEEL_FOUNDATIONDB "Build evenkeel::foundationdb, the coordination store on FoundationDB (needs libfdb_c)" OFF)
option(EVENKEEL_INSTALL "Generate the install target" ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_HARDENING "Harden optimised builds: stack protector, FORTIFY, full RELRO, library assertions"
  ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_WERROR "Turn warnings in our own code into errors" OFF)
option(EVENKEEL_BUILD_FUZZERS "Build the fuzz targets with libFuzzer (needs clang)" OFF)
option(EVENKEEL_UNITY_BUILD "Compile the sources of a library or of a test program in batches" OFF)
option(EVENKEEL_PRECOMPILE_TEST_HEADERS "Parse the headers of the tests once" OFF)
set(EVENKEEL_SANITIZE "" CACHE STRING "Sanitizers for every target: empty, address,undefined or thread")

# The libraries of this build.
if(EVENKEEL_COMPONENTS)
  foreach(name IN LISTS EVENKEEL_COMPONENTS)
    if(NOT name IN_LIST evenkeel_components)
      list(JOIN evenkeel_components ", " names)
      message(FATAL_ERROR "EVENKEEL_COMPONENTS: there is no library \"${name}\"; there are: ${names}")
    endif()
  endforeach()
  evenkeel_closure(evenkeel_built ${EVENKEEL_COMPONENTS})
else()
  set(evenkeel_built ${evenkeel_components})
  if(NOT EVENKEEL_BUILD_TESTING_LIBRARY)
    list(REMOVE_ITEM evenkeel_built apiserver testing)
  endif()
  if(NOT EVENKEEL_FOUNDATIONDB)
    list(REMOVE_ITEM evenkeel_built foundationdb)
  endif()
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "Build type" FORCE)
endif()

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  find_program(EVENKEEL_CCACHE ccache)
  if(EVENKEEL_CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${EVENKEEL_CCACHE})
  endif()
endif()

# g++ collects garbage from 128 MB on and then each time its heap has doubled, a tenth of the time of a batch of sources; from
# 1 GB on, a batch takes a fifth more memory, 2 GB at most.
if(PROJECT_IS_TOP_LEVEL AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options("SHELL:--param ggc-min-heapsize=1000000")
endif()

if(EVENKEEL_SANITIZE)
  add_compile_options(-fsanitize=${EVENKEEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EVENKEEL_SANITIZE})
endif()

# libFuzzer's counters of what an input reached.
if(EVENKEEL_BUILD_FUZZERS)
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

# Tests are many and large: mold links them in a sixth of the time that GNU ld takes, gold in two thirds. What is installed is
# linked as usual.
if(EVENKEEL_BUILD_TESTS AND PROJECT_IS_TOP_LEVEL)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=mold EVENKEEL_MOLD)
  check_linker_flag(CXX -fuse-ld=gold EVENKEEL_GOLD)
  if(EVENKEEL_MOLD)
    add_link_options(-fuse-ld=mold)
  elseif(EVENKEEL_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()
