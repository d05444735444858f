# SPDX-License-Identifier: Apache-2.0
# The warnings that our own code is compiled with; never passed on to consumers.
add_library(evenkeel_warnings INTERFACE)
target_compile_options(evenkeel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
# An error only where we chose compiler and optimisation (the presets): elsewhere a warning of another
# compiler must not stop anybody's build.
if(EVENKEEL_WERROR)
  target_compile_options(evenkeel_warnings INTERFACE -Werror)
endif()
