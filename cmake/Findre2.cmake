# SPDX-License-Identifier: Apache-2.0
# RE2 by pkg-config, for Debian's package comes without a CMake configuration: re2::re2, as RE2's own has it.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(re2_pkgconfig QUIET re2)
endif()
find_path(re2_INCLUDE_DIR re2/re2.h HINTS ${re2_pkgconfig_INCLUDE_DIRS})
find_library(re2_LIBRARY re2 HINTS ${re2_pkgconfig_LIBRARY_DIRS})
mark_as_advanced(re2_INCLUDE_DIR re2_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(re2 REQUIRED_VARS re2_LIBRARY re2_INCLUDE_DIR)
if(re2_FOUND AND NOT TARGET re2::re2)
  add_library(re2::re2 UNKNOWN IMPORTED)
  set_target_properties(re2::re2 PROPERTIES IMPORTED_LOCATION ${re2_LIBRARY} INTERFACE_INCLUDE_DIRECTORIES ${re2_INCLUDE_DIR})
endif()
