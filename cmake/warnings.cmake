# SPDX-License-Identifier: Apache-2.0
# The warnings that our own code is compiled with; never passed on to consumers.
add_library(evenkeel_warnings INTERFACE)
target_compile_options(evenkeel_warnings INTERFACE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
  $<$<CXX_COMPILER_ID:Clang>:-Wthread-safety>)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(evenkeel_warnings INTERFACE -Werror)
endif()
