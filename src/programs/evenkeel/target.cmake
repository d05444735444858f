# SPDX-License-Identifier: Apache-2.0
# evenkeel, the command-line tool for diagnosing operators.
find_package(CLI11 REQUIRED)
add_executable(evenkeel-program programs/evenkeel/main.cpp programs/evenkeel/explain.cpp)
set_target_properties(evenkeel-program PROPERTIES OUTPUT_NAME evenkeel)
target_link_libraries(evenkeel-program PRIVATE evenkeel_warnings evenkeel::client CLI11::CLI11)
target_include_directories(evenkeel-program PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(evenkeel-program PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
evenkeel_compile_in_batches(evenkeel-program 8)
