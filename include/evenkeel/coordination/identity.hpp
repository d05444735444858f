// SPDX-License-Identifier: Apache-2.0
// The identity of an instance, and the mode in which it takes part in coordination.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The three names of an instance, from the one that a person chose to the one that is never reused.
struct Identity {
  std::string scope = {};        ///< The part of the key space that it owns, and its display name: "dc1".
  std::string instance = {};     ///< Stable over restarts: the uid of its resource.
  std::string incarnation = {};  ///< A random text that identifies this run of the process.

  friend bool operator==(const Identity&, const Identity&) = default;
};

/// The extent to which an instance takes part in coordination.
enum class Mode : std::uint8_t {
  local,   ///< Acts alone and takes no part.
  shadow,  ///< Publishes and evaluates the gate, but acts alone; the verdict is only reported.
  global,  ///< Acts only in agreement with the other instances.
};
EVENKEEL_API std::string_view text_of(Mode mode);
/// Returns nullopt if `text` does not name a mode.
EVENKEEL_API std::optional<Mode> mode_of(std::string_view text);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
