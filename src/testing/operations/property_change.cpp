// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include <evenkeel/testing/property_change.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {
namespace {

// A raw string literal is easier to read than one with escapes.
std::string literal(const std::string& text) {
  if (text.find_first_of("\"\\") == std::string::npos) return "\"" + text + "\"";
  const std::string mark = text.find(")\"") == std::string::npos ? "" : "json";
  return "R\"" + mark + "(" + text + ")" + mark + "\"";
}

}  // namespace

std::string PropertyChange::code() const {
  const std::string place = literal(path);
  if (value.empty()) return "ek::testing::remove_property(" + place + ")";
  return std::string("ek::testing::") + (kind == ValueKind::wrong ? "set_wrong(" : "set_property(") + place +
         ", " + literal(value) + ")";
}

PropertyChange set_property(std::string path, std::string json) {
  return {.path = std::move(path), .value = std::move(json)};
}

PropertyChange set_wrong(std::string path, std::string json) {
  return {.path = std::move(path), .value = std::move(json), .kind = ValueKind::wrong};
}

PropertyChange remove_property(std::string path) {
  return {.path = std::move(path)};
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
