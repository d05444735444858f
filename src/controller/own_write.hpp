// SPDX-License-Identifier: Apache-2.0
// Rule of the back-off gate: which changes of an object are writes of the operator itself, so that they give
// no reason to run a key before its retry is due. The gate is in backoff_core.hpp.
#pragma once

#include <memory>
#include <vector>

#include <evenkeel/cache/object_event.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct LoggedWrite;

/// Two successive states of an object, as a cache saw them.
struct Change {
  WireObject before;
  WireObject after;
};

/// Returns true if `event`, of the reconciled object itself, may be an own write: an update of the same
/// object that does not begin its deletion.
bool may_be_own_write(const ObjectEvent& event);

/// Returns true if `change`, of an event that may be an own write, is the effect of `writes` and of nothing
/// else, or no change at all, as in a resync. `writes`: the known writes to the object.
///
/// The version of `after` must be the answer to one of them. That alone proves nothing, as a write without an
/// effect is answered with the version of somebody else's write, so one of the following must hold as well:
/// 1. each write from `before` to `after` was based on the version of the previous one, which the server
///    checked;
/// 2. each difference of the two states, except for resourceVersion, generation and managedFields, is at a
///    place for which these writes sent the value that is there now. The last write to a place counts. An
///    item of a list that an apply or a strategic merge patch sent is compared with the item of the same
///    name, key or type; an item that is gone was not sent. If JSON patches are among the writes, the others
///    must be merge patches, and the result of all of them is the state that is there now.
/// False is the safe answer, an attempt too many. It is given for bodies that are not JSON or were not kept,
/// for states that are kept as metadata only unless 1. holds, and for values that the server stored in
/// another form than they were sent. Complexity: linear in the writes if 1. holds or no version fits;
/// otherwise both states are parsed.
bool is_own_write(const Change& change, std::vector<std::shared_ptr<const LoggedWrite>> writes);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
