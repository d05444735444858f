# SPDX-License-Identifier: Apache-2.0
set(process_groups_headers cluster.hpp coordinators.hpp database.hpp exclusion.hpp process_group.hpp
  removal.hpp restart.hpp safety.hpp sets.hpp)
set(process_groups_sources cluster.cpp coordinators.cpp database.cpp exclusion.cpp process_group.cpp
  removal.cpp restart.cpp safety.cpp sets.cpp)
