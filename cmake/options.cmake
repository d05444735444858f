# SPDX-License-Identifier: Apache-2.0
# Every option of the build. As a subproject only the libraries are built.
option(EVENKEEL_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_BUILD_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_BUILD_BENCHMARKS "Build the benchmarks (needs Google Benchmark)" OFF)
option(EVENKEEL_BUILD_TESTING_LIBRARY "Build evenkeel::testing, the embedded API server" ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_BUILD_TOOLS "Build the programs that need no cluster: evenkeel, evenkeel-curve" ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_FOUNDATIONDB "Build evenkeel::foundationdb, the coordination store on FoundationDB (needs libfdb_c)" OFF)
option(EVENKEEL_INSTALL "Generate the install target" ${PROJECT_IS_TOP_LEVEL})
option(EVENKEEL_WERROR "Turn warnings in our own code into errors" OFF)
set(EVENKEEL_SANITIZE "" CACHE STRING "Sanitizers for every target: empty, address,undefined or thread")

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

if(EVENKEEL_SANITIZE)
  add_compile_options(-fsanitize=${EVENKEEL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${EVENKEEL_SANITIZE})
endif()

# Tests are many and large: gold links them in two thirds of the time. What is installed is linked as usual.
if(EVENKEEL_BUILD_TESTS AND PROJECT_IS_TOP_LEVEL)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=gold EVENKEEL_GOLD)
  if(EVENKEEL_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()
