# SPDX-License-Identifier: Apache-2.0
# coordctl, the command-line tool for the shared state of operator instances.
add_executable(coordctl programs/coordctl/main.cpp programs/coordctl/commands.cpp programs/coordctl/gates.cpp)
target_link_libraries(coordctl PRIVATE evenkeel_warnings evenkeel::coordination CLI11::CLI11)
target_include_directories(coordctl PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
target_compile_definitions(coordctl PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
evenkeel_compile_in_batches(coordctl 8)
if(TARGET evenkeel::foundationdb)
  target_link_libraries(coordctl PRIVATE evenkeel::foundationdb)
  target_compile_definitions(coordctl PRIVATE EVENKEEL_WITH_FOUNDATIONDB)
endif()
