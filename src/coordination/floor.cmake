# SPDX-License-Identifier: Apache-2.0
set(coordination_headers keys.hpp store.hpp)
set(coordination_sources keys.cpp store.cpp)
