# SPDX-License-Identifier: Apache-2.0
set(cache_headers
  cache.hpp detail/decoded_objects.hpp detail/object_tree.hpp informer.hpp object_event.hpp object_index.hpp
  object_store.hpp projection.hpp reflector.hpp reflector_types.hpp watch_health.hpp wire_object.hpp write_effect.hpp)
set(cache_sources
  cache.cpp cache_writes.cpp cell_labeler.cpp collection_file.cpp decoded_objects.cpp disk_copies.cpp failure_log.cpp handler_slot.cpp
  informer.cpp informer_stream.cpp kept_parts.cpp label_core.cpp object_packer.cpp object_store.cpp object_transform.cpp object_tree.cpp
  own_writes.cpp projection.cpp reflector.cpp reflector_restore.cpp store_index.cpp stream_inbox.cpp streaming_core.cpp watch_health.cpp
  wire_object.cpp wire_packing.cpp wire_scanner.cpp write_answer.cpp)
