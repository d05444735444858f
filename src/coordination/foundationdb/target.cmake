#SPDX - License - Identifier : Apache - 2.0
#The store on FoundationDB : a library of its own, because only who uses it needs libfdb_c.
find_path(FDB_INCLUDE_DIR foundationdb / fdb_c.h REQUIRED) find_library(FDB_LIBRARY fdb_c REQUIRED)
    evenkeel_library(foundationdb SOURCES coordination / foundationdb / foundationdb_store.cpp coordination /
                     foundationdb / transaction.cpp HEADERS evenkeel / coordination /
                     foundationdb_store.hpp LINK evenkeel::coordination PRIVATE_LINK ${FDB_LIBRARY})
        target_include_directories(evenkeel_foundationdb PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
            target_include_directories(evenkeel_foundationdb SYSTEM PRIVATE ${FDB_INCLUDE_DIR})
