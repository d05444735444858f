# SPDX-License-Identifier: Apache-2.0
# The program evenkeel-curve; everything except its main() is a library for its tests.
find_package(CLI11 REQUIRED)
add_library(evenkeel_curve STATIC programs/curve/curve.cpp programs/curve/report.cpp)
target_link_libraries(evenkeel_curve PUBLIC evenkeel::workqueue PRIVATE evenkeel_warnings)
target_include_directories(evenkeel_curve PUBLIC ${CMAKE_CURRENT_SOURCE_DIR})
evenkeel_compile_in_batches(evenkeel_curve 8)

add_executable(evenkeel-curve programs/curve/main.cpp)
target_link_libraries(evenkeel-curve PRIVATE evenkeel_warnings evenkeel_curve CLI11::CLI11)
target_compile_definitions(evenkeel-curve PRIVATE EVENKEEL_VERSION="${PROJECT_VERSION}")
