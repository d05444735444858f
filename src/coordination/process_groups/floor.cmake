# SPDX-License-Identifier: Apache-2.0
set(process_groups_headers cluster.hpp database.hpp process_group.hpp sets.hpp)
set(process_groups_sources cluster.cpp database.cpp process_group.cpp sets.cpp)
