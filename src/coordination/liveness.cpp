// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include <evenkeel/coordination/keys.hpp>
#include <evenkeel/coordination/liveness.hpp>

#include "coordination/record_text.hpp"
#include "coordination/transactions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string where_of(std::string_view scope) {
  return scope.empty() ? "instances" : "instances/" + std::string(scope);
}

/// Returns the record of `entry`; nullopt if there is none, or if it cannot be decoded.
std::optional<InstanceRecord> readable(const std::optional<Entry>& entry, std::string_view scope) {
  if (!entry) return std::nullopt;
  try {
    return decode_instance(entry->value, scope);
  } catch (const DecodeError&) {
    return std::nullopt;
  }
}

}  // namespace

std::string_view text_of(Presence presence) {
  switch (presence) {
    case Presence::live:
      return "live";
    case Presence::silent:
      return "silent";
    case Presence::absent:
      break;
  }
  return "absent";
}

std::string encode(const InstanceRecord& record) {
  Json json = Json::object({{"instance", record.instance},
                            {"incarnation", record.incarnation},
                            {"mode", text_of(record.mode)},
                            {"schema", record.schema},
                            {"renewals", record.renewals},
                            {"at", detail::text_of_time(record.at)}});
  if (!record.moved_to.empty()) json["movedTo"] = record.moved_to;
  return json.dump();
}

InstanceRecord decode_instance(std::string_view value, std::string_view scope) {
  const std::string where = where_of(scope);
  const Json json = detail::parse_record(value, where);
  InstanceRecord record;
  record.instance = json["instance"].string_or("");
  record.incarnation = json["incarnation"].string_or("");
  if (record.instance.empty()) throw DecodeError(where + ": instance", "must not be empty");
  const std::string mode = json["mode"].string_or("");
  const std::optional<Mode> known = mode_of(mode);
  if (!known) throw DecodeError(where + ": mode", "expected local, shadow or global, found \"" + mode + "\"");
  record.mode = *known;
  const std::uint64_t schema = detail::whole_number(json, "schema", where);
  if (schema > std::numeric_limits<std::uint32_t>::max()) {
    throw DecodeError(where + ": schema", "is too large");
  }
  record.schema = static_cast<std::uint32_t>(schema);
  record.renewals = detail::whole_number(json, "renewals", where);
  record.at = detail::time_of(json, "at");
  record.moved_to = json["movedTo"].string_or("");
  return record;
}

Liveness::Liveness(Layout layout, LivenessOptions options) : layout_(std::move(layout)), options_(options) {
  if (options_.silence <= Duration::zero()) {
    throw std::invalid_argument("Liveness: silence must be > 0");
  }
}

void Liveness::observe(const std::vector<Entry>& entries, TimePoint now) {
  const std::string prefix = layout_.instances_prefix();
  seen_.see_all(prefix_range(prefix), entries, now);
  known_.clear();
  for (const Entry& entry : entries) {
    if (!entry.key.starts_with(prefix)) continue;
    const std::string scope = key_text(std::string_view(entry.key).substr(prefix.size()));
    Known known;
    known.version = entry.version;
    known.since = seen_.since(entry.key, entry.version).value_or(now);
    if (auto record = readable(entry, scope)) {
      known.record = *std::move(record);
      known.owned = known.record.moved_to.empty();
    }
    known_.emplace(scope, std::move(known));
  }
}

Instance Liveness::seen(const std::string& scope, const Known& known, TimePoint now) const {
  Instance instance{.scope = scope, .record = known.record, .version = known.version};
  instance.unchanged = std::max(now - known.since, Duration::zero());
  if (known.owned) {
    instance.presence = instance.unchanged > options_.silence ? Presence::silent : Presence::live;
  }
  return instance;
}

std::vector<Instance> Liveness::instances(TimePoint now) const {
  std::vector<Instance> all;
  for (const auto& [scope, known] : known_) all.push_back(seen(scope, known, now));
  return all;
}

Instance Liveness::of(std::string_view scope, TimePoint now) const {
  const auto found = known_.find(scope);
  if (found == known_.end()) return {.scope = std::string(scope)};
  return seen(found->first, found->second, now);
}

std::optional<TimePoint> Liveness::silent_at(std::string_view scope) const {
  const auto found = known_.find(scope);
  if (found == known_.end() || !found->second.owned) return std::nullopt;
  // The first moment at which it has been silent for longer than allowed.
  return deadline_after(found->second.since, options_.silence + Duration{1});
}

std::vector<Instance> Liveness::others_than(Mode mode, TimePoint now) const {
  std::vector<Instance> others = instances(now);
  std::erase_if(
      others, [&](const Instance& one) { return one.presence != Presence::live || one.record.mode == mode; });
  return others;
}

bool is_record_of(const InstanceRecord& record, const Identity& me) {
  return record.moved_to.empty() && record.instance == me.instance && record.incarnation == me.incarnation;
}

InstanceRecord next_record(const std::optional<InstanceRecord>& present, Presence known, const Identity& me,
                           Mode mode, bool registered, WallTime wall) {
  const bool same_run = present && is_record_of(*present, me);
  if (present && !same_run) {
    const bool same_instance = present->instance == me.instance;
    if (same_instance && registered) {
      throw ScopeTaken("scope " + me.scope + ": a later run of this instance (" + present->incarnation +
                       ") has taken over" +
                       (present->moved_to.empty() ? "" : ", and moved to " + present->moved_to));
    }
    if (!same_instance && known == Presence::live) {
      throw ScopeTaken("scope " + me.scope + " belongs to the instance " + present->instance +
                       ", which is live");
    }
  }
  InstanceRecord next;
  next.instance = me.instance;
  next.incarnation = me.incarnation;
  next.mode = mode;
  next.renewals = same_run ? present->renewals + 1 : 1;
  next.at = wall;
  return next;
}

LivenessRegistry::LivenessRegistry(Store& store, Layout layout, Identity me, LivenessOptions options,
                                   TransactOptions transact)
    : store_(store),
      layout_(std::move(layout)),
      me_(std::move(me)),
      transact_(detail::with_token(std::move(transact), layout_.token(me_.scope))),
      liveness_(layout_, options) {}

void LivenessRegistry::observe(StoreSnapshot& snapshot) {
  const std::vector<Entry> entries = snapshot.scan_all(prefix_range(layout_.instances_prefix()));
  const TimePoint now = transact_.clock->now();
  MutexLock guard(mutex_);
  liveness_.observe(entries, now);
  registered_ = registered_ || is_record_of(liveness_.of(me_.scope, now).record, me_);
}

std::vector<Instance> LivenessRegistry::renew(Mode mode, std::stop_token stop) {
  MutexLock transacting(transacting_);
  const std::string key = layout_.instance(me_.scope);
  const auto body = [&](StoreSnapshot& snapshot) {
    observe(snapshot);
    const std::optional<Entry> entry = snapshot.get(key);
    MutexLock guard(mutex_);
    const Presence presence = liveness_.of(me_.scope, transact_.clock->now()).presence;
    const InstanceRecord next = next_record(readable(entry, me_.scope), presence, me_, mode, registered_,
                                            transact_.clock->wall_now());
    Commit commit;
    commit.reads = {detail::read_of(key, entry)};
    commit.puts = {{key, encode(next)}};
    return commit;
  };
  detail::require_committed(transact(store_, body, transact_, stop), "renewing " + key);
  MutexLock guard(mutex_);
  registered_ = true;
  return liveness_.instances(transact_.clock->now());
}

std::vector<Instance> LivenessRegistry::look(std::stop_token stop) {
  observe(*store_.snapshot(std::move(stop)));
  return instances();
}

void LivenessRegistry::set_registered() {
  MutexLock guard(mutex_);
  registered_ = true;
}

void LivenessRegistry::retire(std::stop_token stop) {
  MutexLock transacting(transacting_);
  const std::string key = layout_.instance(me_.scope);
  bool has_later_run = false;
  const auto body = [&](StoreSnapshot& snapshot) {
    Commit commit;
    const std::optional<Entry> entry = snapshot.get(key);
    const std::optional<InstanceRecord> present = readable(entry, me_.scope);
    if (!present || present->instance != me_.instance) return commit;
    MutexLock guard(mutex_);
    has_later_run = registered_ && !is_record_of(*present, me_);
    if (has_later_run) return commit;
    commit.reads = {detail::read_of(key, entry)};
    commit.erases = {key};
    return commit;
  };
  detail::require_committed(transact(store_, body, transact_, stop), "removing " + key);
  MutexLock guard(mutex_);
  registered_ = has_later_run;  // so that renew() does not take the scope back
}

std::vector<Instance> LivenessRegistry::instances() const {
  MutexLock guard(mutex_);
  return liveness_.instances(transact_.clock->now());
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
