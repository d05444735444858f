// SPDX-License-Identifier: Apache-2.0
#include "publishing.hpp"

#include <array>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

constexpr std::array<std::string_view, 7> set_names{
    set_name::pending_for_removal,   set_name::pending_for_exclusion, set_name::ready_for_exclusion,
    set_name::pending_for_inclusion, set_name::ready_for_inclusion,   set_name::pending_for_restart,
    set_name::ready_for_restart};

std::string exclusion_kind(std::string_view process_class, ReadyBy ready_by) {
  if (ready_by == ReadyBy::all) return {};
  if (ready_by == ReadyBy::transaction_system && is_transaction_class(process_class)) return "transaction";
  return std::string(process_class);
}

std::string kind_of(std::string_view set, const std::string& unit, const GroupSets& next,
                    const ProcessCluster& cluster, const PublishNotes& notes) {
  const ProcessGroup* group = cluster.find(unit);
  const std::string process_class = group == nullptr ? std::string() : group->process_class;
  if (set == set_name::pending_for_exclusion) return exclusion_kind(process_class, notes.ready_by);
  if (set != set_name::pending_for_inclusion) return process_class;
  return next.pending_for_exclusion.contains(unit) ? std::string(marked_kind) : notes.inclusion_kind;
}

void place(std::string_view set, const OwnState& own, const GroupSets& next, const ProcessCluster& cluster,
           const PublishNotes& notes, DesiredState& desired) {
  const GroupIds& wanted = *next.named(set);
  if (const auto present = own.sets.find(set); present != own.sets.end()) {
    for (const auto& [unit, member] : present->second) {
      if (!wanted.contains(unit)) desired.remove(set, unit);
    }
  }
  for (const std::string& unit : wanted) {
    const std::string kind = kind_of(set, unit, next, cluster, notes);
    const OwnMember* present = own.find(set, unit);
    if (present == nullptr) desired.add(set, unit, kind);
    const bool was_marked = present != nullptr && set == set_name::pending_for_inclusion &&
                            present->kind == marked_kind && kind != marked_kind;
    if (was_marked) {
      desired.remove(set, unit);  // because of the new kind
      desired.renew(set, unit, present->since, kind);
    }
    const auto consumed = notes.consumed.find({std::string(set), unit});
    if (consumed != notes.consumed.end()) desired.renew(set, unit, consumed->second, kind);
  }
}

}  // namespace

std::string_view text_of(ReadyBy ready_by) {
  switch (ready_by) {
    case ReadyBy::all:
      return "all";
    case ReadyBy::transaction_system:
      return "transaction_system";
    case ReadyBy::process_class:
      break;
  }
  return "process_class";
}

std::optional<ReadyBy> ready_by_of(std::string_view text) {
  for (const ReadyBy one : {ReadyBy::all, ReadyBy::transaction_system, ReadyBy::process_class}) {
    if (text_of(one) == text) return one;
  }
  return std::nullopt;
}

GroupSets sets_of(const OwnState& own) {
  GroupSets sets{.addresses = own.facts};
  for (const auto& [name, members] : own.sets) {
    GroupIds* set = sets.named(name);
    if (set == nullptr) continue;
    for (const auto& [unit, member] : members) set->insert(unit);
  }
  return sets;
}

DesiredState desired_state(const OwnState& own, const GroupSets& next, const ProcessCluster& cluster,
                           const PublishNotes& notes) {
  DesiredState desired = own.desired();
  for (const std::string_view set : set_names) place(set, own, next, cluster, notes, desired);
  for (const auto& [unit, addresses] : own.facts) {
    if (!next.addresses.contains(unit)) desired.set_facts(unit, {});
  }
  for (const auto& [unit, addresses] : next.addresses) desired.set_facts(unit, addresses);
  return desired;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
