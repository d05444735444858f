// SPDX-License-Identifier: Apache-2.0
// Converts between the sets of process groups and the ledger's state of a scope. Pure.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/process_groups/coordinator.hpp>
#include <evenkeel/coordination/process_groups/sets.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// Data that is published in addition to the sets.
struct PublishNotes {
  ReadyBy ready_by = ReadyBy::process_class;
  /// Inclusion kinds of the groups that are excluded now: the exclusion that a group belongs to. Groups of
  /// one exclusion are included together, and wait for no other.
  std::string inclusion_kind = {};
  /// Ready members that a claim consumed and that need the action again: (set, unit) -> since.
  std::map<std::pair<std::string, std::string>, Version> consumed = {};
};

/// The kind of members of pendingForInclusion that are not excluded yet. None of them is ever ready, and no
/// member of another kind waits for them.
inline constexpr std::string_view marked_kind = "marked";

GroupSets sets_of(const OwnState& own);
/// Changes `desired` so that the scope's sets become `next`.
DesiredState desired_state(const OwnState& own, const GroupSets& next, const ProcessCluster& cluster,
                           const PublishNotes& notes);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
