// SPDX-License-Identifier: Apache-2.0
// Option of a queue: the place of a key that is added while it is processed.
#pragma once

#include <cstdint>

namespace evenkeel {
inline namespace v0 {

/// Position of a key that was added while it was processed, once it is done.
enum class Readd : std::uint8_t {
  at_back,     ///< Behind everything queued by then, as in client-go.
  keep_place,  ///< Where it was added: it does not wait for later adds.
};

}  // namespace v0
}  // namespace evenkeel
