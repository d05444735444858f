# SPDX-License-Identifier: Apache-2.0
# evenkeel, the command-line tool: it diagnoses operators and starts new ones. Everything but its main() is a library for
# its tests.
find_package(CLI11 REQUIRED)
add_library(evenkeel_program_commands STATIC
  programs/evenkeel/explain.cpp
  programs/evenkeel/scaffold/new_project.cpp
  programs/evenkeel/scaffold/project.cpp
  programs/evenkeel/types/builtin_shapes.cpp
  programs/evenkeel/types/crd_source.cpp
  programs/evenkeel/types/cxx_names.cpp
  programs/evenkeel/types/cxx_text.cpp
  programs/evenkeel/types/field_attributes.cpp
  programs/evenkeel/types/header_writer.cpp
  programs/evenkeel/types/lost_parts.cpp
  programs/evenkeel/types/type_builder.cpp
  programs/evenkeel/types/type_names.cpp
  programs/evenkeel/types/types.cpp)
target_link_libraries(evenkeel_program_commands PUBLIC evenkeel::client PRIVATE evenkeel_warnings yaml-cpp)
target_include_directories(evenkeel_program_commands PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
evenkeel_compile_in_batches(evenkeel_program_commands 20)

# Embeds the templates of `evenkeel new`; their symbols are in programs/evenkeel/scaffold/templates.hpp.
function(evenkeel_embed_template file symbol)
  set(input ${CMAKE_CURRENT_SOURCE_DIR}/programs/evenkeel/templates/${file}.in)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/template_${symbol}.cpp)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -D INPUT=${input} -D OUTPUT=${output} -D "SYMBOL=evenkeel::program::templates::${symbol}"
      -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${input} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    VERBATIM)
  target_sources(evenkeel_program_commands PRIVATE ${output})
endfunction()
evenkeel_embed_template(ci.yaml ci_yaml)
evenkeel_embed_template(clang-format clang_format)
evenkeel_embed_template(CMakeLists.txt cmake_lists)
evenkeel_embed_template(controller.cpp controller_cpp)
evenkeel_embed_template(controller.hpp controller_hpp)
evenkeel_embed_template(Dockerfile dockerfile)
evenkeel_embed_template(faults_test.cpp faults_test_cpp)
evenkeel_embed_template(gitignore gitignore)
evenkeel_embed_template(kind.hpp kind_hpp)
evenkeel_embed_template(main.cpp main_cpp)
evenkeel_embed_template(README.md readme)
evenkeel_embed_template(sample.yaml sample_yaml)
evenkeel_embed_template(server_test.cpp server_test_cpp)
evenkeel_embed_template(test.cpp test_cpp)

add_executable(evenkeel-program programs/evenkeel/main.cpp)
set_target_properties(evenkeel-program PROPERTIES OUTPUT_NAME evenkeel)
target_link_libraries(evenkeel-program PRIVATE evenkeel_warnings evenkeel_program_commands CLI11::CLI11)
target_compile_definitions(evenkeel-program PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
