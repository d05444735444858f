// SPDX-License-Identifier: Apache-2.0
// Builds keys from escaped elements, so that no scope is a prefix of another: "dc1" and "dc10", or a scope
// that contains a '/'.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Escapes `text` for use as an element of a key: '/', '%' and bytes that are not printable ASCII become %XX.
/// Throws std::invalid_argument if `text` is empty.
EVENKEEL_API std::string key_element(std::string_view text);
/// The inverse of key_element(). Returns `element` unchanged if it is not a valid element.
EVENKEEL_API std::string key_text(std::string_view element);

/// Returns `root` followed by '/' and each element: key_of("/db", {"pendingForRestart", "dc1", "dc1-log-1"}).
/// `root` may hold any bytes, is not escaped, and must not end with '/'.
EVENKEEL_API std::string key_of(std::string_view root, std::initializer_list<std::string_view> elements);
/// Returns key_of() followed by '/': the prefix of all keys below it.
EVENKEEL_API std::string prefix_of(std::string_view root, std::initializer_list<std::string_view> elements);
/// Returns the unescaped elements of `key` after `root`; empty if `key` is not below `root`.
EVENKEEL_API std::vector<std::string> elements_of(std::string_view root, std::string_view key);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
