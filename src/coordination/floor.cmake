# SPDX-License-Identifier: Apache-2.0
set(coordination_headers keys.hpp memory_store.hpp store.hpp transact.hpp)
set(coordination_sources keys.cpp memory_store.cpp store.cpp transact.cpp)
