// SPDX-License-Identifier: Apache-2.0
#include "cache/own_writes.hpp"

#include <algorithm>
#include <compare>
#include <functional>

namespace evenkeel {
inline namespace v0 {
namespace detail {

using Kind = WriteEffect::Kind;

bool is_older_state(const WireObject& candidate, const WireObject& stored) {
  return compare_resource_versions(candidate.resource_version(), stored.resource_version()) ==
         std::strong_ordering::less;
}

namespace {

/// Returns true if the watch, at `reached`, has passed `version`, or cannot tell.
bool has_passed(std::string_view reached, std::string_view version) {
  return compare_resource_versions(reached, version) != std::strong_ordering::less;
}

/// Returns true if `object`, delivered by the watch, is what `effect` waits for.
bool shows(const WireObject& object, const WriteEffect& effect) {
  switch (effect.kind) {
    case Kind::changed:
      return has_passed(object.resource_version(), effect.version);
    case Kind::outdated:
      return object.resource_version() != effect.version &&
             compare_resource_versions(object.resource_version(), effect.version) !=
                 std::strong_ordering::less;
    case Kind::ending:
    case Kind::absent:
      return (effect.uid.empty() || object.uid() == effect.uid) && object.is_being_deleted();
    case Kind::present:
      return true;
    case Kind::written:
    case Kind::removed:
    case Kind::unknown:
      return false;
  }
  return false;
}

/// Returns true if the deletion of the object `uid` is what `effect` waits for.
bool ends_with(const WriteEffect& effect, std::string_view uid) {
  if (effect.kind == Kind::outdated) return true;
  if (effect.kind != Kind::ending && effect.kind != Kind::absent) return false;
  return effect.uid.empty() || effect.uid == uid;
}

}  // namespace

bool PendingWrites::is_over(const WireObject& object) const {
  return std::any_of(removed.begin(), removed.end(), [&object](const Removed& one) {
    return one.uid == object.uid() ||
           compare_resource_versions(object.resource_version(), one.version) == std::strong_ordering::less;
  });
}

bool PendingWrites::may_be_unknown() const {
  return !unknown.empty() ||
         std::any_of(removed.begin(), removed.end(), [](const Removed& one) { return one.version.empty(); });
}

bool PendingWrites::is_unknown(const WireObject& delivered) const {
  return !unknown.empty() || (may_be_unknown() && over(delivered));
}

WireObject PendingWrites::over(const WireObject& delivered) const {
  const WireObject shown = delivered && !is_over(delivered) ? delivered : WireObject();
  if (!written) return shown;
  if (shown && !is_older_state(shown, written->object)) return shown;
  if (written->selection == WriteEffect::Selection::outside) return {};
  if (written->selection == WriteEffect::Selection::undecided && !shown) return {};
  return written->object;
}

const PendingWrites* OwnWrites::find(const TreeKey& key) const {
  if (entries_.empty()) return nullptr;
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

void OwnWrites::on_write(WriteEffect effect, const WireObject& delivered) {
  const auto at = entries_.try_emplace(ObjectKey{effect.namespace_, effect.name}).first;
  const bool unknown = at->second.may_be_unknown();
  next_due_ = std::min(next_due_, effect.until);
  switch (effect.kind) {
    case Kind::written:
      on_written(at->second, std::move(effect));
      break;
    case Kind::removed:
      on_own_removal(at->second, effect, delivered);
      break;
    default:
      on_unknown(at->second, std::move(effect), delivered);
  }
  settle(at, unknown);
}

void OwnWrites::on_written(PendingWrites& pending, WriteEffect effect) {
  const WireObject& object = effect.object;
  if (!compare_resource_versions(object.resource_version(), "0")) return;
  // Delivered by the watch, or deleted since. Nothing reached: the first list may be older than the write.
  if (!reached_.empty() && has_passed(reached_, object.resource_version())) return;
  if (pending.is_over(object) || was_removed(object.uid())) return;  // an answer that came late
  std::erase_if(pending.unknown, [&](const WriteEffect& one) { return shows(object, one); });
  if (!pending.written || is_older_state(pending.written->object, object))
    pending.written = std::move(effect);
}

void OwnWrites::on_own_removal(PendingWrites& pending, const WriteEffect& effect,
                               const WireObject& delivered) {
  PendingWrites::Removed removed{.uid = effect.uid, .version = effect.version, .until = effect.until};
  if (removed.version.empty() && delivered && delivered.uid() == effect.uid)
    removed.version = delivered.resource_version();
  if (pending.written && pending.written->object.uid() == effect.uid &&
      compare_resource_versions(removed.version, pending.written->object.resource_version()) !=
          std::strong_ordering::greater)
    removed.version = pending.written->object.resource_version();
  std::erase_if(pending.unknown, [&](const WriteEffect& one) { return ends_with(one, effect.uid); });
  if (was_removed(effect.uid)) return;
  std::erase_if(pending.removed, [&](const auto& one) { return one.uid == effect.uid; });
  pending.removed.push_back(std::move(removed));
  if (pending.written && pending.is_over(pending.written->object)) pending.written.reset();
}

void OwnWrites::on_unknown(PendingWrites& pending, WriteEffect effect, const WireObject& delivered) {
  const WireObject shown = pending.over(delivered);
  const bool ends = effect.kind == Kind::ending || effect.kind == Kind::absent;
  if (effect.kind == Kind::absent && !shown) return;
  if (effect.kind == Kind::changed && !reached_.empty() && has_passed(reached_, effect.version)) return;
  if (ends && effect.uid.empty() && shown) effect.uid = shown.uid();
  if (effect.kind == Kind::outdated && effect.version.empty() && shown)
    effect.version = shown.resource_version();
  if (shown && shows(shown, effect)) return;
  if (ends && !effect.uid.empty() && was_removed(effect.uid)) return;
  std::erase_if(pending.unknown, [&](const WriteEffect& one) {
    return one.kind == effect.kind && one.uid == effect.uid && one.version == effect.version;
  });
  pending.unknown.push_back(std::move(effect));
}

void OwnWrites::on_stored(const WireObject& object) {
  if (entries_.empty()) return;
  const auto at = entries_.find(tree_key(object));
  if (at == entries_.end()) return;
  PendingWrites& pending = at->second;
  const bool unknown = pending.may_be_unknown();
  for (PendingWrites::Removed& one : pending.removed) {
    if (one.uid == object.uid()) one.version = object.resource_version();
  }
  // A later object of the name: the removed one is gone.
  std::erase_if(pending.removed, [&](const PendingWrites::Removed& one) {
    return one.uid != object.uid() && !one.version.empty() &&
           compare_resource_versions(object.resource_version(), one.version) == std::strong_ordering::greater;
  });
  if (!pending.is_over(object))
    std::erase_if(pending.unknown, [&](const WriteEffect& one) { return shows(object, one); });
  settle(at, unknown);
}

void OwnWrites::on_added(const WireObject& object) {
  if (!removals_.empty()) std::erase(removals_, std::hash<std::string_view>()(object.uid()));
  on_stored(object);
}

void OwnWrites::on_removed(const WireObject& object) {
  const std::size_t hash = std::hash<std::string_view>()(object.uid());
  if (removals_.size() < remembered_removals)
    removals_.push_back(hash);
  else
    removals_[next_removal_++ % remembered_removals] = hash;
  if (entries_.empty()) return;
  const auto at = entries_.find(tree_key(object));
  if (at == entries_.end()) return;
  PendingWrites& pending = at->second;
  const bool unknown = pending.may_be_unknown();
  std::erase_if(pending.removed, [&](const auto& one) { return one.uid == object.uid(); });
  if (pending.written && pending.written->object.uid() == object.uid()) pending.written.reset();
  std::erase_if(pending.unknown, [&](const WriteEffect& one) { return ends_with(one, object.uid()); });
  settle(at, unknown);
}

void OwnWrites::on_reached(std::string_view version) {
  if (version.empty() || reached_ == version) return;
  const bool forward = compare_resource_versions(version, reached_) == std::strong_ordering::greater;
  if (!reached_.empty() && !forward) {
    entries_.clear();
    removals_.clear();
    unknown_ = 0;
  }
  reached_ = version;
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    PendingWrites& pending = at->second;
    const bool unknown = pending.may_be_unknown();
    if (pending.written && has_passed(version, pending.written->object.resource_version()))
      pending.written.reset();
    std::erase_if(pending.unknown, [version](const WriteEffect& one) {
      return one.kind == Kind::changed && has_passed(version, one.version);
    });
    settle(at, unknown);
    at = next;
  }
}

void OwnWrites::on_timeout(TimePoint now) {
  next_due_ = TimePoint::max();
  for (auto at = entries_.begin(); at != entries_.end();) {
    const auto next = std::next(at);
    PendingWrites& pending = at->second;
    const bool unknown = pending.may_be_unknown();
    const auto keep = [this, now](TimePoint until) {
      if (until > now) next_due_ = std::min(next_due_, until);
      return until > now;
    };
    if (pending.written && !keep(pending.written->until)) pending.written.reset();
    std::erase_if(pending.removed, [&](const auto& one) { return !keep(one.until); });
    std::erase_if(pending.unknown, [&](const WriteEffect& one) { return !keep(one.until); });
    settle(at, unknown);
    at = next;
  }
}

bool OwnWrites::was_removed(std::string_view uid) const {
  const std::size_t hash = std::hash<std::string_view>()(uid);
  return std::find(removals_.begin(), removals_.end(), hash) != removals_.end();
}

void OwnWrites::settle(Entries::iterator at, bool unknown_before) {
  const bool unknown_now = at->second.may_be_unknown();
  if (unknown_now && !unknown_before) ++unknown_;
  if (unknown_before && !unknown_now) --unknown_;
  if (at->second.empty()) entries_.erase(at);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
