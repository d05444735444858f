# SPDX-License-Identifier: Apache-2.0
set(cache_headers
  cache.hpp detail/job_runner.hpp detail/object_tree.hpp informer.hpp object_event.hpp object_store.hpp
  reflector.hpp reflector_types.hpp watch_health.hpp wire_object.hpp)
set(cache_sources
  cache.cpp failure_log.cpp handler_slot.cpp informer.cpp job_runner.cpp object_store.cpp object_tree.cpp reflector.cpp
  stream_inbox.cpp watch_health.cpp wire_object.cpp wire_scanner.cpp)
