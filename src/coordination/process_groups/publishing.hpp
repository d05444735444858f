// SPDX-License-Identifier: Apache-2.0
// Between the sets of process groups and the ledger's state of a scope. Pure.
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

/// What is published besides the sets themselves.
struct PublishNotes {
  ReadyBy ready_by = ReadyBy::transaction_system;
  /// What groups that are excluded now are included by: the exclusion that they belong to. Groups of one are
  /// included together, and wait for no other.
  std::string inclusion_kind = {};
  /// Ready members that a claim consumed, and that are needed again: (set, unit) -> since.
  std::map<std::pair<std::string, std::string>, Version> consumed = {};
};

/// The kind of members of pendingForInclusion that are not excluded yet: none of them is ever ready, and no
/// other waits for them.
inline constexpr std::string_view marked_kind = "marked";

GroupSets sets_of(const OwnState& own);
/// That the scope's sets be `next`.
DesiredState desired_state(const OwnState& own, const GroupSets& next, const ProcessCluster& cluster,
                           const PublishNotes& notes);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
