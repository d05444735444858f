# SPDX-License-Identifier: Apache-2.0
# evenkeel, the command-line tool: it diagnoses operators and starts new ones. Everything but its main() is a library for
# its tests.
find_package(CLI11 REQUIRED)
add_library(evenkeel_program_commands STATIC
  programs/evenkeel/explain.cpp
  programs/evenkeel/types/builtin_shapes.cpp
  programs/evenkeel/types/crd_source.cpp
  programs/evenkeel/types/cxx_names.cpp
  programs/evenkeel/types/cxx_text.cpp
  programs/evenkeel/types/header_writer.cpp
  programs/evenkeel/types/type_builder.cpp
  programs/evenkeel/types/types.cpp)
target_link_libraries(evenkeel_program_commands PUBLIC evenkeel::client PRIVATE evenkeel_warnings yaml-cpp)
target_include_directories(evenkeel_program_commands PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
evenkeel_compile_in_batches(evenkeel_program_commands 8)

add_executable(evenkeel-program programs/evenkeel/main.cpp)
set_target_properties(evenkeel-program PROPERTIES OUTPUT_NAME evenkeel)
target_link_libraries(evenkeel-program PRIVATE evenkeel_warnings evenkeel_program_commands CLI11::CLI11)
target_compile_definitions(evenkeel-program PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
