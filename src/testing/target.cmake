# SPDX-License-Identifier: Apache-2.0
evenkeel_library(testing
  SOURCES ${testing_sources}
  HEADERS ${testing_headers}
  LINK evenkeel::runtime evenkeel::coordination
  PRIVATE_LINK $<BUILD_INTERFACE:Boost::headers> OpenSSL::SSL OpenSSL::Crypto yaml-cpp)
target_include_directories(evenkeel_testing PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
if(EVENKEEL_SANITIZE MATCHES thread AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # Asio's fences; what they order, its mutexes order as well.
  target_compile_options(evenkeel_testing PRIVATE -Wno-tsan)
endif()

# The embedded server, the real control plane and the stand-in for etcd as programs.
add_executable(evenkeel-apiserver apiserver/main.cpp apiserver/program.cpp)
add_executable(evenkeel-control-plane control_plane/main.cpp apiserver/program.cpp)
add_executable(evenkeel-etcd etcd/main.cpp apiserver/program.cpp)
foreach(program evenkeel-apiserver evenkeel-control-plane evenkeel-etcd)
  target_link_libraries(${program} PRIVATE evenkeel_warnings evenkeel::testing CLI11::CLI11)
  target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_compile_definitions(${program} PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
endforeach()

# The built-in kinds are part of the program.
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/builtin_kinds.cpp
  COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_CURRENT_SOURCE_DIR}/testing/data/builtin_kinds.txt
    -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/builtin_kinds.cpp -D SYMBOL=evenkeel::v0::testing::builtin_kinds_text
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/testing/data/builtin_kinds.txt ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
target_sources(evenkeel_testing PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/builtin_kinds.cpp)

# So are the field numbers of their protobuf messages.
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/protobuf_fields.cpp
  COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_CURRENT_SOURCE_DIR}/testing/data/protobuf_fields.txt
    -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/protobuf_fields.cpp -D SYMBOL=evenkeel::v0::testing::protobuf_fields_text
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/testing/data/protobuf_fields.txt ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
target_sources(evenkeel_testing PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/protobuf_fields.cpp)
