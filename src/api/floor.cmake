# SPDX-License-Identifier: Apache-2.0
set(api_headers
  codec.hpp detail/each.hpp dynamic.hpp fields.hpp int_or_string.hpp json.hpp metadata.hpp patch.hpp quantity.hpp
  resource.hpp selector.hpp snapshot.hpp time.hpp)
set(api_sources
  decode.cpp dynamic.cpp encode.cpp int_or_string.cpp json.cpp json_text.cpp metadata.cpp overlay.cpp patch.cpp
  quantity.cpp selector.cpp time.cpp)
