// SPDX-License-Identifier: Apache-2.0
// Seeds of objects of one process.
#pragma once

#include <cstdint>

#include <evenkeel/base/clock.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns a seed from the time and the address of an object, so that it differs between objects and
/// programs.
inline std::uint64_t seed_of(const Clock& clock, const void* self) {
  return static_cast<std::uint64_t>(clock.now().time_since_epoch().count()) ^
         reinterpret_cast<std::uintptr_t>(self);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
