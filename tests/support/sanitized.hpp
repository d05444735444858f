// SPDX-License-Identifier: Apache-2.0
// Detection of sanitizers, which slow tests down: those of many random rounds run fewer of them then.
#pragma once

namespace evenkeel::tests {

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

}  // namespace evenkeel::tests
