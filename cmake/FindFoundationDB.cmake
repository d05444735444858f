# SPDX-License-Identifier: Apache-2.0
# FoundationDB's C client, as its own packages install it: FoundationDB::fdb_c. CMAKE_PREFIX_PATH names another
# place than the system's.
find_path(FoundationDB_INCLUDE_DIR foundationdb/fdb_c.h)
find_library(FoundationDB_LIBRARY fdb_c)
mark_as_advanced(FoundationDB_INCLUDE_DIR FoundationDB_LIBRARY)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(FoundationDB REQUIRED_VARS FoundationDB_LIBRARY FoundationDB_INCLUDE_DIR)
if(FoundationDB_FOUND AND NOT TARGET FoundationDB::fdb_c)
  add_library(FoundationDB::fdb_c UNKNOWN IMPORTED)
  set_target_properties(FoundationDB::fdb_c PROPERTIES
    IMPORTED_LOCATION ${FoundationDB_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${FoundationDB_INCLUDE_DIR})
endif()
