# SPDX-License-Identifier: Apache-2.0
evenkeel_library(apiserver
  SOURCES ${apiserver_sources}
  HEADERS ${apiserver_headers}
  LINK evenkeel::client evenkeel::serve
  PRIVATE_LINK $<BUILD_INTERFACE:Boost::headers> OpenSSL::SSL OpenSSL::Crypto libyaml::libyaml re2::re2 yaml-cpp
    ZLIB::ZLIB)

add_executable(evenkeel-apiserver programs/apiserver/main.cpp programs/common/program.cpp)
target_link_libraries(evenkeel-apiserver PRIVATE evenkeel_warnings evenkeel::apiserver CLI11::CLI11)
target_include_directories(evenkeel-apiserver PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(evenkeel-apiserver PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
evenkeel_compile_in_batches(evenkeel-apiserver 8)

# Embeds the data of the built-in kinds.
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/builtin_kinds.cpp
  COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_CURRENT_SOURCE_DIR}/apiserver/data/builtin_kinds.txt
    -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/builtin_kinds.cpp -D "SYMBOL=evenkeel::inline v0::apiserver::builtin_kinds_text"
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apiserver/data/builtin_kinds.txt ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
target_sources(evenkeel_apiserver PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/builtin_kinds.cpp)

# Embeds the field numbers of their protobuf messages.
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/protobuf_fields.cpp
  COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_CURRENT_SOURCE_DIR}/apiserver/data/protobuf_fields.txt
    -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/protobuf_fields.cpp -D "SYMBOL=evenkeel::inline v0::apiserver::protobuf_fields_text"
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apiserver/data/protobuf_fields.txt ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
target_sources(evenkeel_apiserver PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/protobuf_fields.cpp)

# Embeds the roles and bindings of every cluster.
add_custom_command(OUTPUT ${CMAKE_CURRENT_BINARY_DIR}/bootstrap_roles.cpp
  COMMAND ${CMAKE_COMMAND} -D INPUT=${CMAKE_CURRENT_SOURCE_DIR}/apiserver/data/bootstrap_roles.txt
    -D OUTPUT=${CMAKE_CURRENT_BINARY_DIR}/bootstrap_roles.cpp -D "SYMBOL=evenkeel::inline v0::apiserver::bootstrap_roles_text"
    -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/apiserver/data/bootstrap_roles.txt ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  VERBATIM)
target_sources(evenkeel_apiserver PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/bootstrap_roles.cpp)
