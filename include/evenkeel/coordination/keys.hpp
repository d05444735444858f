// SPDX-License-Identifier: Apache-2.0
// How keys are made of elements, so that no scope ever reads another's: "dc1" and "dc10", or one with a '/'
// in it.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// An element of a key: '/', '%' and what is not printable ASCII as %XX. Throws std::invalid_argument if it
/// is empty.
EVENKEEL_API std::string key_element(std::string_view text);
/// The text that key_element() was given. What is no such element comes back as it is.
EVENKEEL_API std::string key_text(std::string_view element);

/// `root`, then each element after a '/': key_of("/db", {"pendingForRestart", "dc1", "dc1-log-1"}). The root
/// is taken as it is (it may hold any bytes), without a '/' at its end.
EVENKEEL_API std::string key_of(std::string_view root, std::initializer_list<std::string_view> elements);
/// The same with a '/' at the end: the prefix of everything below.
EVENKEEL_API std::string prefix_of(std::string_view root, std::initializer_list<std::string_view> elements);
/// The elements after `root`, as texts; nothing if `key` is not below it.
EVENKEEL_API std::vector<std::string> elements_of(std::string_view root, std::string_view key);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
