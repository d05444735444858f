# SPDX-License-Identifier: Apache-2.0
# The warnings that our own code is compiled with; never passed on to consumers.
add_library(evenkeel_warnings INTERFACE)
target_compile_options(evenkeel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
# Optimising, g++ 12 warns of overlapping copies inside its own std::string (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(evenkeel_warnings INTERFACE $<$<CONFIG:Release,RelWithDebInfo>:-Wno-restrict>)
endif()
# An error only where we chose compiler and optimisation (the presets): elsewhere a warning of another
# compiler must not stop anybody's build.
if(EVENKEEL_WERROR)
  target_compile_options(evenkeel_warnings INTERFACE -Werror)
endif()
