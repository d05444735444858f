# SPDX-License-Identifier: Apache-2.0
set(sharding_headers shards.hpp slot.hpp)
set(sharding_sources needed_ranges.cpp shard_core.cpp shard_options.cpp shard_requests.cpp shard_table.cpp shards.cpp slot.cpp slot_ranges.cpp)
