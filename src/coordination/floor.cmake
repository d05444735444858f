# SPDX-License-Identifier: Apache-2.0
set(coordination_headers
  identity.hpp
  keys.hpp
  layout.hpp
  memory_store.hpp
  observations.hpp
  store.hpp
  transact.hpp)
set(coordination_sources
  identity.cpp
  keys.cpp
  layout.cpp
  memory_store.cpp
  observations.cpp
  store.cpp
  transact.cpp)
