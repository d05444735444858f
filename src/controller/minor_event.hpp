// SPDX-License-Identifier: Apache-2.0
// Rule of the back-off gate: which events give no reason to run a key before its retry is due. The gate
// itself (backoff_core.hpp) is independent of objects.
#pragma once

#include <evenkeel/cache/object_event.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns true if `event`, of the reconciled object itself, gives no reason to retry before the back-off is
/// over: an update that leaves generation, labels, annotations and deletion timestamp unchanged, such as a
/// status write or a change of finalizers or owners only.
///
/// Kinds without a generation (ConfigMaps, Secrets, Nodes) are compared by content, except `metadata` and
/// `status`. If only their metadata is kept, they cannot be compared, and no update is minor. Additions,
/// deletions and objects that replace another with the same name are never minor.
/// Complexity: linear in labels and annotations; kinds without generation are parsed.
bool is_minor(const ObjectEvent& event);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
