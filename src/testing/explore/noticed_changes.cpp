// SPDX-License-Identifier: Apache-2.0
#include "testing/explore/noticed_changes.hpp"

#include <algorithm>

#include "testing/explore/run_error.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {
namespace {

const Json& owners_in(const Json& state) {
  return state.at({"metadata", "ownerReferences"});
}

bool has_owners(const TracedWrite& change) {
  return !owners_in(change.before).is_null() || !owners_in(change.after).is_null();
}

}  // namespace

// Mappings that read the cache look the reconciled objects up in an index, and timers may read anything.
void add_watches(const ControllerSpec& spec, WatchedKinds& kinds) {
  const bool reads_all =
      !spec.timers.empty() || std::any_of(spec.watches.begin(), spec.watches.end(),
                                          [](const WatchSpec& watch) { return watch.bind != nullptr; });
  kinds[spec.resource.qualified_plural()].is_examined |= reads_all;
  for (const WatchSpec& watch : spec.watches) {
    WatchedKind& kind = kinds[watch.resource.qualified_plural()];
    kind.is_examined |= reads_all || !watch.when.is_empty() || !(watch.primary || watch.owned);
    kind.is_primary |= watch.primary;
    kind.is_owned |= watch.owned;
  }
}

bool NoticedChanges::is_read(const TracedWrite& change, const WatchedKind& kind) const {
  const std::string& resource = change.resource;
  return kind.is_examined || reads_.objects.contains({resource, change.key}) ||
         reads_.lists.contains({resource, ""}) || reads_.lists.contains({resource, change.key.namespace_});
}

bool NoticedChanges::is_event_noticed(const TracedWrite& change) const {
  if (change.removes()) return true;
  const auto kind = kinds_.find(change.resource);
  if (kind == kinds_.end()) return false;
  const bool wakes = kind->second.is_primary || (kind->second.is_owned && has_owners(change));
  return wakes || is_read(change, kind->second);
}

bool NoticedChanges::is_state_noticed(const TracedWrite& change) const {
  if (change.removes()) return true;
  const auto kind = kinds_.find(change.resource);
  if (kind == kinds_.end()) return false;
  const bool moves = change.before.is_null() || owners_in(change.before) != owners_in(change.after);
  const bool wakes = kind->second.is_primary || (kind->second.is_owned && has_owners(change));
  return (moves && wakes) || is_read(change, kind->second);
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
