# SPDX-License-Identifier: Apache-2.0

# evenkeel_library(NAME SOURCES ... HEADERS ... LINK ... PRIVATE_LINK ...)
# Makes the target evenkeel_NAME with its alias evenkeel::NAME. Without SOURCES it is header-only.
# HEADERS are relative to include/; each must compile alone (target all_verify_interface_header_sets).
function(evenkeel_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/)
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(evenkeel_${name} ${arg_SOURCES})
    target_link_libraries(evenkeel_${name} PRIVATE $<BUILD_INTERFACE:evenkeel_warnings> ${arg_PRIVATE_LINK})
    target_compile_definitions(evenkeel_${name} PRIVATE EVENKEEL_BUILDING)
    if(BUILD_SHARED_LIBS)
      target_compile_definitions(evenkeel_${name} PUBLIC EVENKEEL_SHARED)
    endif()
    set_target_properties(evenkeel_${name} PROPERTIES
      CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON POSITION_INDEPENDENT_CODE ON
      VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
      # Of the libraries that one of ours needs, a program may name none: they are found beside it.
      INSTALL_RPATH "$ORIGIN")
  else()
    set(scope INTERFACE)
    add_library(evenkeel_${name} INTERFACE)
  endif()
  add_library(evenkeel::${name} ALIAS evenkeel_${name})
  if(EVENKEEL_UNITY_BUILD AND arg_SOURCES)
    set_target_properties(evenkeel_${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
    # A class of a source file may have members of its unnamed namespace; in a batch that file is an included one.
    target_compile_options(evenkeel_${name} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
  set_target_properties(evenkeel_${name} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(evenkeel_${name} ${scope} cxx_std_20)
  target_sources(evenkeel_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
    FILES ${arg_HEADERS})
  target_link_libraries(evenkeel_${name} ${scope} ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY EVENKEEL_LIBRARIES ${name})
endfunction()

# evenkeel_precompile_test_headers(TARGET): gives it the headers that nearly every test includes, parsed once.
function(evenkeel_precompile_test_headers target)
  if(NOT EVENKEEL_PRECOMPILE_TEST_HEADERS)
    return()
  endif()
  if(NOT TARGET evenkeel_test_headers)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
    add_library(evenkeel_test_headers OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(evenkeel_test_headers PRIVATE evenkeel_warnings evenkeel::workqueue GTest::gtest GTest::gmock)
    target_precompile_headers(evenkeel_test_headers PRIVATE <gmock/gmock.h> <gtest/gtest.h> <chrono> <functional> <map>
      <memory> <optional> <string> <thread> <utility> <vector>)
  endif()
  target_precompile_headers(${target} REUSE_FROM evenkeel_test_headers)
endfunction()

# evenkeel_test(NAME SOURCES ... LINK ... [LABELS ...])
# One gtest program; every TEST in it is a ctest of its own. Suites that end in Concurrency get the
# label stress (they run again under ThreadSanitizer).
function(evenkeel_test name)
  cmake_parse_arguments(arg "" "" "SOURCES;LINK;LABELS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE evenkeel_warnings ${arg_LINK} GTest::gtest_main GTest::gmock)
  evenkeel_precompile_test_headers(${name})
  gtest_discover_tests(${name} TEST_FILTER -*Concurrency.* PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT 60
    DISCOVERY_TIMEOUT 60)
  gtest_discover_tests(${name} TEST_FILTER *Concurrency.* TEST_LIST ${name}_stress
    PROPERTIES LABELS "stress;${arg_LABELS}" TIMEOUT 120 DISCOVERY_TIMEOUT 60)
endfunction()

# evenkeel_real_test(NAME SOURCES ... LINK ... [TIMEOUT seconds])
# One gtest program and one ctest of the label real: its tests share a real control plane, which takes seconds to
# start. Built by real_tests alone.
function(evenkeel_real_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE evenkeel_warnings ${arg_LINK} GTest::gtest_main GTest::gmock)
  evenkeel_precompile_test_headers(${name})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS real TIMEOUT ${arg_TIMEOUT})
  add_dependencies(real_tests ${name})
endfunction()
