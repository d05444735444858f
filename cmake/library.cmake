# SPDX-License-Identifier: Apache-2.0

# evenkeel_compile_in_batches(TARGET SIZE): with EVENKEEL_UNITY_BUILD, compiles that many sources of the target at a time,
# but for generated ones, and those with the property SKIP_UNITY_BUILD_INCLUSION, COMPILE_DEFINITIONS or COMPILE_OPTIONS.
# CMake's UNITY_BUILD includes them by absolute paths, so that a compiler cache has nothing for a checkout in another folder.
function(evenkeel_compile_in_batches target size)
  if(EVENKEEL_UNITY_BUILD)
    # The properties of its sources are set later.
    cmake_language(EVAL CODE "cmake_language(DEFER CALL evenkeel_make_batches ${target} ${size})")
    # A class of a source file may have members of its unnamed namespace; in a batch that file is an included one.
    target_compile_options(${target} PRIVATE "SHELL:-iquote ${PROJECT_SOURCE_DIR}"
      $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
  endif()
endfunction()

function(evenkeel_make_batches target size)
  get_target_property(sources ${target} SOURCES)
  set(kept "")
  set(number 0)
  set(room 0)
  foreach(source IN LISTS sources)
    evenkeel_path_in_batch(path "${source}")
    if(NOT path)
      list(APPEND kept "${source}")
      continue()
    endif()
    if(room EQUAL 0)
      set(batch ${CMAKE_CURRENT_BINARY_DIR}/batches/${target}_${number}.cpp)
      list(APPEND kept ${batch})
      math(EXPR number "${number} + 1")
      set(room ${size})
      set(${batch} "")
    endif()
    string(APPEND ${batch} "#include \"${path}\"\n")
    math(EXPR room "${room} - 1")
  endforeach()
  foreach(batch IN LISTS kept)
    if(DEFINED ${batch})
      file(CONFIGURE OUTPUT ${batch} CONTENT "${${batch}}" @ONLY)
    endif()
  endforeach()
  set_target_properties(${target} PROPERTIES SOURCES "${kept}")
endfunction()

# evenkeel_path_in_batch(RESULT SOURCE): its path from the root of the project; empty if it is compiled alone.
function(evenkeel_path_in_batch result source)
  set(${result} "" PARENT_SCOPE)
  cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
  cmake_path(IS_PREFIX PROJECT_SOURCE_DIR ${path} in_project)
  foreach(property GENERATED SKIP_UNITY_BUILD_INCLUSION COMPILE_DEFINITIONS COMPILE_OPTIONS)
    get_source_file_property(alone ${path} ${property})
    if(alone)
      return()
    endif()
  endforeach()
  if(in_project AND path MATCHES "\\.cpp$")
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY ${PROJECT_SOURCE_DIR})
    set(${result} ${path} PARENT_SCOPE)
  endif()
endfunction()

# evenkeel_library(NAME SOURCES ... HEADERS ... LINK ... PRIVATE_LINK ...)
# Makes the target evenkeel_NAME with its alias evenkeel::NAME. Without SOURCES it is header-only.
# HEADERS are relative to include/; each must compile alone (target all_verify_interface_header_sets). SOURCES may
# include the private headers below src/.
function(evenkeel_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;HEADERS;LINK;PRIVATE_LINK" ${ARGN})
  list(TRANSFORM arg_HEADERS PREPEND ${PROJECT_SOURCE_DIR}/include/)
  if(arg_SOURCES)
    set(scope PUBLIC)
    add_library(evenkeel_${name} ${arg_SOURCES})
    target_link_libraries(evenkeel_${name} PRIVATE $<BUILD_INTERFACE:evenkeel_warnings> ${arg_PRIVATE_LINK})
    target_compile_definitions(evenkeel_${name} PRIVATE EVENKEEL_BUILDING)
    target_include_directories(evenkeel_${name} PRIVATE ${PROJECT_SOURCE_DIR}/src)
    if("${arg_PRIVATE_LINK}" MATCHES "Boost::headers" AND EVENKEEL_SANITIZE MATCHES thread
       AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
      # GCC warns about Asio's fences; its mutexes establish the same order.
      target_compile_options(evenkeel_${name} PRIVATE -Wno-tsan)
    endif()
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
  if(arg_SOURCES)
    evenkeel_compile_in_batches(evenkeel_${name} 20)
  endif()
  set_target_properties(evenkeel_${name} PROPERTIES EXPORT_NAME ${name} VERIFY_INTERFACE_HEADER_SETS ON)
  target_compile_features(evenkeel_${name} ${scope} cxx_std_20)
  target_sources(evenkeel_${name} ${scope} FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}/include
    FILES ${arg_HEADERS})
  target_link_libraries(evenkeel_${name} ${scope} ${arg_LINK})
  set_property(GLOBAL APPEND PROPERTY EVENKEEL_LIBRARIES ${name})
endfunction()

# evenkeel_speed_up_test(TARGET [HEAVY] LINK LINKED ...): what makes a test program of many sources quick to compile, if it is
# asked for. LINKED are the libraries of the program. Sources whose names clash in a batch have a namespace of their own, or
# the property SKIP_UNITY_BUILD_INCLUSION.
function(evenkeel_speed_up_test target)
  cmake_parse_arguments(arg "HEAVY" "" "LINK" ${ARGN})
  evenkeel_compile_in_batches(${target} 10)
  if(EVENKEEL_UNITY_BUILD)
    # A local variable may have the name of another source's constant. Linked, because the last option of a warning counts.
    if(NOT TARGET evenkeel_batch_warnings)
      add_library(evenkeel_batch_warnings INTERFACE)
      target_compile_options(evenkeel_batch_warnings INTERFACE -Wno-shadow)
    endif()
    target_link_libraries(${target} PRIVATE evenkeel_batch_warnings)
  endif()
  if(arg_HEAVY AND EVENKEEL_SANITIZE MATCHES address)
    # Its unoptimised instances of the standard library's templates would be those that the optimised libraries call, too.
    target_compile_options(${target} PRIVATE -O1)
  elseif(EVENKEEL_PRECOMPILE_TEST_HEADERS)
    if(EVENKEEL_SANITIZE MATCHES address)
      target_compile_options(${target} PRIVATE -O0)  # as the headers, see tests/CMakeLists.txt
    endif()
    evenkeel_test_headers(queue evenkeel::workqueue)
    set(headers queue)
    if("${arg_LINK}" MATCHES "evenkeel::(runtime|apiserver|testing|process_groups)|store_suite|coordination_" AND TARGET evenkeel_testing)
      evenkeel_test_headers(operator evenkeel::testing)
      set(headers operator)
    endif()
    target_precompile_headers(${target} REUSE_FROM evenkeel_${headers}_test_headers)
  endif()
endfunction()

# evenkeel_test_headers(NAME LINKED): the target evenkeel_NAME_test_headers, tests/support/NAME_headers.hpp parsed once.
function(evenkeel_test_headers name linked)
  set(target evenkeel_${name}_test_headers)
  if(NOT TARGET ${target})
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/test_headers.cpp CONTENT "")
    add_library(${target} OBJECT ${PROJECT_BINARY_DIR}/test_headers.cpp)
    target_link_libraries(${target} PRIVATE evenkeel_warnings ${linked} GTest::gtest GTest::gmock)
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
    # Clang's result has the paths of the headers and checks them, so that it must not be taken for a checkout in another
    # folder: CMake includes a header that is named in full by its path, one in <> as it is named.
    target_precompile_headers(${target} PRIVATE
      $<IF:$<CXX_COMPILER_ID:Clang>,${PROJECT_SOURCE_DIR}/tests/support/${name}_headers.hpp,<support/${name}_headers.hpp$<ANGLE-R>>)
    # For compiler caches: the result depends on nothing but the headers.
    target_compile_options(${target} PRIVATE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  endif()
endfunction()

# evenkeel_test(NAME SOURCES ... LINK ... [LABELS ...] [WHOLE] [HEAVY])
# One gtest program; every TEST in it is a ctest of its own. With a sanitizer, where a process takes a tenth of a second to
# start, the program is one ctest, and one more of its suites that end in Concurrency. Those get the
# label stress: they run again under ThreadSanitizer, for which the target stress_tests builds what has some,
# there without the sources whose suites are all others, except with WHOLE. HEAVY is a program that computes for long: it is
# optimised with every sanitizer, and started first. The time limit only ends a test that hangs.
function(evenkeel_test name)
  cmake_parse_arguments(arg "WHOLE;HEAVY" "" "SOURCES;LINK;LABELS" ${ARGN})
  set(stress_sources "")
  set(other_sources "")
  foreach(source IN LISTS arg_SOURCES)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE path)
    file(STRINGS ${path} stress REGEX "Concurrency" LIMIT_COUNT 1)
    file(STRINGS ${path} suites REGEX "^(TEST|TYPED_TEST|INSTANTIATE)" LIMIT_COUNT 1)
    if(stress)
      list(APPEND stress_sources ${source})
    elseif(suites)
      list(APPEND other_sources ${source})
    endif()
  endforeach()
  if(stress_sources AND EVENKEEL_SANITIZE STREQUAL thread AND NOT arg_WHOLE)
    list(REMOVE_ITEM arg_SOURCES ${other_sources})
  endif()
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE evenkeel_warnings ${arg_LINK} GTest::gtest_main GTest::gmock)
  set(heavy "")
  set(cost 0)
  if(arg_HEAVY)
    set(heavy HEAVY)
    set(cost 100)
  endif()
  evenkeel_speed_up_test(${name} ${heavy} LINK ${arg_LINK})
  if(NOT EVENKEEL_SANITIZE)
    gtest_discover_tests(${name} TEST_FILTER -*Concurrency.* PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT 300
      DISCOVERY_TIMEOUT 300)
    gtest_discover_tests(${name} TEST_FILTER *Concurrency.* TEST_LIST ${name}_stress
      PROPERTIES LABELS "stress;${arg_LABELS}" TIMEOUT 300 DISCOVERY_TIMEOUT 300)
  else()
    add_test(NAME ${name} COMMAND ${name} --gtest_filter=-*Concurrency.*)
    set_tests_properties(${name} PROPERTIES LABELS "unit;${arg_LABELS}" TIMEOUT 1200 COST ${cost})
    if(stress_sources)
      add_test(NAME ${name}_stress COMMAND ${name} --gtest_filter=*Concurrency.*)
      set_tests_properties(${name}_stress PROPERTIES LABELS "stress;${arg_LABELS}" TIMEOUT 1200 COST ${cost})
    endif()
  endif()
  if(NOT TARGET stress_tests)
    add_custom_target(stress_tests)
  endif()
  if(stress_sources)
    add_dependencies(stress_tests ${name})
  endif()
endfunction()

# evenkeel_real_test(NAME SOURCES ... LINK ... [TIMEOUT seconds])
# One gtest program and one ctest of the label real: its tests share a real control plane, which takes seconds to
# start. Built by real_tests alone.
function(evenkeel_real_test name)
  cmake_parse_arguments(arg "" "TIMEOUT" "SOURCES;LINK" ${ARGN})
  add_executable(${name} EXCLUDE_FROM_ALL ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE evenkeel_warnings ${arg_LINK} GTest::gtest_main GTest::gmock)
  evenkeel_speed_up_test(${name} LINK ${arg_LINK})
  add_test(NAME ${name} COMMAND ${name})
  set_tests_properties(${name} PROPERTIES LABELS real TIMEOUT ${arg_TIMEOUT})
  add_dependencies(real_tests ${name})
endfunction()
