# SPDX-License-Identifier: Apache-2.0
# The store on FoundationDB: a library of its own, because only who uses it needs libfdb_c.
list(APPEND CMAKE_MODULE_PATH ${PROJECT_SOURCE_DIR}/cmake)
find_package(FoundationDB REQUIRED)
include(${CMAKE_CURRENT_SOURCE_DIR}/coordination/foundationdb/floor.cmake)
list(TRANSFORM foundationdb_sources PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/coordination/foundationdb/)
evenkeel_library(foundationdb
  SOURCES ${foundationdb_sources}
  HEADERS evenkeel/coordination/foundationdb_store.hpp
  LINK evenkeel::coordination
  PRIVATE_LINK FoundationDB::fdb_c)
