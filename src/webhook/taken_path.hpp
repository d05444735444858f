// SPDX-License-Identifier: Apache-2.0
// The error about a second webhook of a path. Shared with floors above.
#pragma once

#include <string>

#include <evenkeel/webhook/webhook.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns the reason why `added` cannot have the paths of `known`. Kinds of different groups may have the
/// same ones: "a-b.c" and "a.b-c".
inline std::string taken_path(const Webhook& known, const Webhook& added) {
  const std::string kind = added.resource().kind + " (" + added.resource().api_version() + ")";
  if (known.resource().group == added.resource().group) return kind + " has webhooks already";
  return kind + " has the paths of " + known.resource().api_version() + ": " + mutate_path(added.resource());
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
