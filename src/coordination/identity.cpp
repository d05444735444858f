// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <utility>

#include <evenkeel/coordination/identity.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

constexpr std::array<std::pair<Mode, std::string_view>, 3> modes{
    {{Mode::local, "local"}, {Mode::shadow, "shadow"}, {Mode::global, "global"}}};

}  // namespace

std::string_view text_of(Mode mode) {
  for (const auto& [one, text] : modes) {
    if (one == mode) return text;
  }
  return "unknown";
}

std::optional<Mode> mode_of(std::string_view text) {
  for (const auto& [mode, name] : modes) {
    if (name == text) return mode;
  }
  return std::nullopt;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
