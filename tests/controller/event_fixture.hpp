// SPDX-License-Identifier: Apache-2.0
// Events made from JSON text, for tests of predicates and handlers.
#pragma once

#include <string>
#include <string_view>

#include <evenkeel/cache/object_event.hpp>

namespace evenkeel {

inline WireObject wire_object(std::string_view metadata, std::string_view kind = "ConfigMap",
                              std::string_view api_version = "v1") {
  WireScanner scanner;
  return scanner.object(R"({"apiVersion":")" + std::string(api_version) + R"(","kind":")" +
                        std::string(kind) + R"(","metadata":)" + std::string(metadata) + "}");
}

inline ObjectEvent added(const WireObject& object) {
  return {.type = EventType::added, .object = &object};
}
inline ObjectEvent deleted(const WireObject& object) {
  return {.type = EventType::deleted, .object = &object};
}
inline ObjectEvent updated(const WireObject& old, const WireObject& object) {
  return {.type = EventType::updated, .object = &object, .old = &old};
}

}  // namespace evenkeel
