# SPDX-License-Identifier: Apache-2.0
set(foundationdb_sources
  foundationdb_store.cpp
  transaction.cpp
  url.cpp
  watch.cpp)
