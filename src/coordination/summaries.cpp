// SPDX-License-Identifier: Apache-2.0
// Reads the summaries of scopes instead of their members, where they say enough for a decision.
#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/ledger.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

template <class Decode>
auto readable(const Entry& entry, const Decode& decode) -> std::optional<decltype(decode(entry))> {
  try {
    return decode(entry);
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

/// The targets of all claims, and whether those of the newest one are consumed.
struct TakenNow {
  TakenRecord record = {};
  ClaimState state = ClaimState::settled;
};

/// Returns what claims have taken; nullopt if only the targets themselves show it.
std::optional<TakenNow> taken_of(StoreSnapshot& snapshot, const Layout& layout, const ViewEntries& entries) {
  if (!entries.claim) {
    const bool nothing =
        !entries.taken &&
        snapshot.scan(prefix_range(layout.targets_prefix(entries.action)), 1).entries.empty();
    return nothing ? std::optional(TakenNow()) : std::nullopt;
  }
  const auto claim = readable(*entries.claim, decode_claim);
  if (!claim || !entries.taken) return std::nullopt;
  auto taken = readable(*entries.taken, decode_taken);
  if (!taken || taken->epoch != claim->epoch) return std::nullopt;
  return TakenNow{*std::move(taken), claim->state};
}

/// Returns the scopes of moves in progress, both the former and the new ones.
std::set<std::string> moving(const Layout& layout, const ViewEntries& entries) {
  std::set<std::string> scopes;
  for (const Entry& entry : entries.migrating) {
    std::vector<std::string> elements = elements_of(layout.root(), entry.key);
    if (elements.size() == 3) scopes.insert(std::move(elements[2]));
    const auto to =
        readable(entry, [](const Entry& one) { return Json::parse(one.value, one.key)["to"].as_string(); });
    if (to) scopes.insert(*to);
  }
  return scopes;
}

/// Returns true if all members of `kind` are consumed, false if none is; nullopt if the summary does not show
/// that. `state` is that of the newest claim.
std::optional<bool> is_consumed(const KindSummary& kind, const TakenRecord::Scope& taken, ClaimState state) {
  if (kind.oldest > taken.as_of) return false;
  const bool changed = kind.added > taken.as_of || (kind.ready > 0 && kind.readied > taken.as_of);
  const auto found = taken.kinds.find(kind.kind);
  if (changed || found == taken.kinds.end()) return std::nullopt;
  if (found->second == TakenKind::none) return false;
  if (found->second != TakenKind::earlier && state != ClaimState::settled) {
    return found->second == TakenKind::newest ? std::optional(false) : std::nullopt;
  }
  // A unit that is no longer ready is pending again, unless its pending member was the target.
  return kind.ready == kind.pending ? std::optional(true) : std::nullopt;
}

/// Removes the kinds whose members are all consumed. Returns false if the summary does not show which members
/// are.
bool take_out(const TakenRecord::Scope& taken, ClaimState state, SummaryRecord& summary) {
  std::vector<KindSummary> kept;
  for (KindSummary& kind : summary.kinds) {
    const auto consumed = is_consumed(kind, taken, state);
    if (!consumed) return false;
    if (!*consumed) kept.push_back(std::move(kind));
  }
  summary.kinds = std::move(kept);
  return true;
}

/// The entries of a view, as they are read.
class ViewReader {
 public:
  ViewReader(StoreSnapshot& snapshot, const Layout& layout, std::string_view action, ViewCache& cache)
      : snapshot_(snapshot), layout_(layout), cache_(cache) {
    all_.action = action;
    all_.version = snapshot.version();
    pending_guards_ = guards(pending_set(action));
    ready_guards_ = guards(ready_set(action));
    for (const auto* table : {&pending_guards_, &ready_guards_}) note_guards(*table);
    all_.instances = below(layout.instances_prefix());
    all_.denied = below(layout.denied_prefix());
    all_.migrating = below(layout.migrating_prefix());
    all_.claim = snapshot.get(layout.claim(action));
    all_.lock = snapshot.get(layout.lock());
    all_.taken = snapshot.get(layout.taken(action));
  }

  ViewEntries whole() && {
    const std::string facts(facts_table);
    all_.pending = cache_.read(snapshot_, layout_, pending_set(all_.action), pending_guards_);
    all_.ready = cache_.read(snapshot_, layout_, ready_set(all_.action), ready_guards_);
    all_.facts = cache_.read(snapshot_, layout_, facts, guards(facts));
    all_.targets = below(layout_.targets_prefix(all_.action));
    return std::move(all_);
  }

  ViewEntries summaries(std::string_view also) && {
    const auto taken = taken_of(snapshot_, layout_, all_);
    if (!taken || all_.guards.empty()) return std::move(*this).whole();
    all_.whole = false;
    for (const Entry& entry : below(layout_.summaries_prefix(all_.action))) add_summary(entry, *taken);
    std::set<std::string> scopes = moving(layout_, all_);
    if (!also.empty()) scopes.emplace(also);
    for (const auto& [scope, version] : all_.guards) {
      if (!all_.summaries.contains(scope)) scopes.insert(scope);
    }
    for (const std::string& scope : scopes) all_.summaries.erase(scope);
    std::ranges::sort(all_.consumed);  // keys are in another order
    std::erase_if(all_.consumed, [&](const std::string& scope) { return scopes.contains(scope); });
    if (!scopes.empty()) read_members({scopes.begin(), scopes.end()});
    return std::move(all_);
  }

 private:
  std::vector<Entry> below(const std::string& prefix) { return snapshot_.scan_all(prefix_range(prefix)); }
  std::vector<Entry> guards(const std::string& table) { return below(layout_.guard_prefix(table)); }

  void note_guards(const std::vector<Entry>& guards) {
    for (const Entry& entry : guards) {
      const std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
      if (elements.size() != 3 || elements[2].empty()) continue;
      Version& newest = all_.guards[elements[2]];
      newest = std::max(newest, entry.version);
    }
  }

  /// Adds a summary that is valid, if it shows which members are consumed.
  void add_summary(const Entry& entry, const TakenNow& taken) {
    const std::vector<std::string> elements = elements_of(layout_.root(), entry.key);
    if (elements.size() != 3) return;
    const std::string& scope = elements[2];
    const auto guard = all_.guards.find(scope);
    if (guard == all_.guards.end() || guard->second != entry.version) return;
    auto summary = readable(entry, decode_summary);
    if (!summary) return;
    const std::size_t kinds = summary->kinds.size();
    const auto targets = taken.record.scopes.find(scope);
    const bool any = targets != taken.record.scopes.end();
    if (any && !take_out(targets->second, taken.state, *summary)) return;
    if (summary->kinds.size() < kinds) all_.consumed.push_back(scope);
    all_.summaries[scope] = *std::move(summary);
  }

  /// Reads the members and targets of `scopes`.
  void read_members(const std::vector<std::string>& scopes) {
    all_.pending = cache_.read(snapshot_, layout_, pending_set(all_.action), pending_guards_, scopes);
    all_.ready = cache_.read(snapshot_, layout_, ready_set(all_.action), ready_guards_, scopes);
    for (const std::string& scope : scopes) {
      auto targets = snapshot_.get(layout_.targets(all_.action, scope));
      if (targets) all_.targets.push_back(*std::move(targets));
    }
  }

  StoreSnapshot& snapshot_;
  const Layout& layout_;
  ViewCache& cache_;
  ViewEntries all_;
  std::vector<Entry> pending_guards_;
  std::vector<Entry> ready_guards_;
};

}  // namespace

ViewEntries read_view(StoreSnapshot& snapshot, const Layout& layout, std::string_view action,
                      ViewCache& cache) {
  return ViewReader(snapshot, layout, action, cache).whole();
}

ViewEntries read_summaries(StoreSnapshot& snapshot, const Layout& layout, std::string_view action,
                           ViewCache& cache, std::string_view also) {
  return ViewReader(snapshot, layout, action, cache).summaries(also);
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
