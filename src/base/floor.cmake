# SPDX-License-Identifier: Apache-2.0
set(base_headers clock.hpp cond_var.hpp duration_text.hpp error.hpp export.hpp hash_ranges.hpp hash_table.hpp log.hpp metrics.hpp mutex.hpp object_key.hpp stderr_log.hpp stop.hpp suspender.hpp text_hash.hpp time.hpp trace.hpp)
# Compiled into evenkeel::client: the queue needs none of them.
set(base_sources files.cpp json_scan.cpp json_text.cpp leftover_thread.cpp log_line.cpp shown_text.cpp stderr_log.cpp trace.cpp)
