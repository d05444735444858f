// SPDX-License-Identifier: Apache-2.0
// Kubeconfigs of others, before it is known that they name no files of this machine.
// Shared with floors above.
#pragma once

#include <string_view>

#include <evenkeel/base/export.hpp>
#include <evenkeel/client/config.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Like parse_kubeconfig(), but touches no file: those that the text names may not exist, or block a reader.
/// The caller refuses what it does not allow before it makes a client.
EVENKEEL_API Config parse_foreign_kubeconfig(std::string_view text, std::string_view name);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
