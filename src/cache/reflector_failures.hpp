// SPDX-License-Identifier: Apache-2.0
// Classes of the failures of lists and watches.
#pragma once

#include <string>

#include <evenkeel/cache/reflector.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace reflector {

/// Returns true if the server no longer has the requested resourceVersion.
inline bool is_expired(const ReflectorFailure& failure) {
  if (failure.kind != ReflectorFailure::Kind::refused) return false;
  return failure.status.code == 410 || failure.status.reason == "Expired" || failure.status.reason == "Gone";
}

/// Returns true if the server asks to wait.
inline bool is_throttled(const Status& status) {
  return status.code == 429 || status.reason == "TooManyRequests";
}

/// Returns the text of a failure, for people.
inline std::string text_of(const ReflectorFailure& failure) {
  if (!failure.message.empty() || failure.kind != ReflectorFailure::Kind::refused) return failure.message;
  return failure.status.message.empty() ? failure.status.reason : failure.status.message;
}

}  // namespace reflector
}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
