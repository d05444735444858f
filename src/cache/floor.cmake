# SPDX-License-Identifier: Apache-2.0
set(cache_headers frame_splitter.hpp list_splitter.hpp object_event.hpp reflector.hpp wire_object.hpp)
set(cache_sources
  frame_splitter.cpp json_scan.cpp list_splitter.cpp reflector.cpp wire_object.cpp wire_scanner.cpp)
