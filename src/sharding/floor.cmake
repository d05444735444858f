# SPDX-License-Identifier: Apache-2.0
set(sharding_headers shards.hpp slot.hpp)
set(sharding_sources shards.cpp held_share.cpp shard_core.cpp shard_table.cpp slot.cpp slot_ranges.cpp)
