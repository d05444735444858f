# SPDX-License-Identifier: Apache-2.0
# LibYAML by pkg-config, for Debian's package comes without a CMake configuration: libyaml::libyaml.
find_package(PkgConfig QUIET)
if(PkgConfig_FOUND)
  pkg_check_modules(libyaml_pkgconfig QUIET yaml-0.1)
endif()
find_path(libyaml_INCLUDE_DIR yaml.h HINTS ${libyaml_pkgconfig_INCLUDE_DIRS})
find_library(libyaml_LIBRARY yaml HINTS ${libyaml_pkgconfig_LIBRARY_DIRS})
mark_as_advanced(libyaml_INCLUDE_DIR libyaml_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(libyaml REQUIRED_VARS libyaml_LIBRARY libyaml_INCLUDE_DIR)
if(libyaml_FOUND AND NOT TARGET libyaml::libyaml)
  add_library(libyaml::libyaml UNKNOWN IMPORTED)
  set_target_properties(libyaml::libyaml PROPERTIES
    IMPORTED_LOCATION ${libyaml_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${libyaml_INCLUDE_DIR})
endif()
