// SPDX-License-Identifier: Apache-2.0
// Who an instance is to the others, and how far it goes along with them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/base/export.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// An instance in three names, from the one that a person gave to the one that nobody will ever give again.
struct Identity {
  std::string scope = {};        ///< The part of the keys that is its own, and its name to people: "dc1".
  std::string instance = {};     ///< The same for as long as it exists: the uid of its resource.
  std::string incarnation = {};  ///< Of this run of its process: a random text.

  friend bool operator==(const Identity&, const Identity&) = default;
};

enum class Mode : std::uint8_t {
  local,   ///< Acts alone; takes no part.
  shadow,  ///< Publishes and evaluates, and acts alone: what global would have done is only told.
  global,  ///< Acts only in agreement.
};
EVENKEEL_API std::string_view text_of(Mode mode);
/// Nothing for what is no mode.
EVENKEEL_API std::optional<Mode> mode_of(std::string_view text);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
