// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/api/json.hpp>
#include <evenkeel/coordination/coordination_metrics.hpp>
#include <evenkeel/coordination/ledger.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

LedgerOptions checked(LedgerOptions options) {
  const auto need = [](const std::string& text, const char* what) {
    if (text.empty()) throw std::invalid_argument(std::string("Ledger: the identity has no ") + what);
  };
  need(options.identity.scope, "scope");
  need(options.identity.instance, "instance");
  need(options.identity.incarnation, "incarnation");
  static_cast<void>(options.domain.sets());
  return options;
}

/// Returns true if `entry` is the registry record of this run; false if it cannot be decoded.
bool is_own_record(const std::optional<Entry>& entry, const Identity& me) {
  if (!entry) return false;
  try {
    return is_record_of(decode_instance(entry->value, me.scope), me);
  } catch (const DecodeError&) {
    return false;
  }
}

}  // namespace

Ledger::Ledger(Store& store, LedgerOptions options)
    : store_(store),
      options_(checked(std::move(options))),
      layout_(options_.domain.root),
      mode_(options_.mode),
      own_liveness_(layout_, options_.liveness),
      viewer_(layout_, options_.liveness) {}

OwnState Ledger::own(std::stop_token stop) {
  const auto snapshot = store_.snapshot(std::move(stop));
  return own_state(layout_, read_own(*snapshot, layout_, options_.domain, options_.identity.scope));
}

/// The registry record that this commit writes.
InstanceRecord Ledger::renewed(const std::optional<Entry>& entry, TimePoint now) {
  const std::string& scope = options_.identity.scope;
  std::vector<Entry> entries;
  std::optional<InstanceRecord> present;
  if (entry) {
    entries.push_back(*entry);
    present = decode_instance(entry->value, scope);
  }
  own_liveness_.observe(entries, now);
  return next_record(present, own_liveness_.of(scope, now).presence, options_.identity, mode_, registered_,
                     options_.clock->wall_now());
}

Published Ledger::publish(const Desire& desire, std::stop_token stop) {
  MutexLock lock(publishing_);
  std::vector<std::vector<PublishChange>> runs;
  const auto body = [&](StoreSnapshot& snapshot) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS {
    const Identity& me = options_.identity;
    runs.emplace_back();  // one per run, even if the run ends early
    const OwnEntries entries = read_own(snapshot, layout_, options_.domain, me.scope);
    if (is_own_record(entries.record, me)) registered_ = true;
    const OwnState present = own_state(layout_, entries);
    PublishPlan plan = plan_publish(layout_, options_.domain, me.scope, present, desire(present),
                                    options_.clock->wall_now());
    if (!plan.changes.empty()) {
      plan.commit.puts.push_back(
          {layout_.instance(me.scope), encode(renewed(entries.record, options_.clock->now()))});
    }
    runs.back() = std::move(plan.changes);
    return std::move(plan.commit);
  };
  TransactOptions options = options_.transact;
  options.token_key = layout_.token(options_.identity.scope);
  options.token.clear();
  options.clock = options_.clock;
  Published published{.transacted = transact(store_, body, options, stop), .changes = {}};
  if (published.transacted.wrote) {
    registered_ = true;
    published.changes = std::move(runs.at(published.transacted.run));
  }
  return published;
}

View Ledger::view(std::string_view action, std::stop_token stop) {
  const auto snapshot = store_.snapshot(std::move(stop));
  return view(read(*snapshot, action));
}

ViewEntries Ledger::read(StoreSnapshot& snapshot, std::string_view action) {
  return read_view(snapshot, layout_, action, cache_);
}

ViewEntries Ledger::read_summaries(StoreSnapshot& snapshot, std::string_view action, std::string_view also) {
  return coordination::read_summaries(snapshot, layout_, action, cache_, also);
}

View Ledger::summary(std::string_view action, std::string_view also, std::stop_token stop) {
  const auto snapshot = store_.snapshot(std::move(stop));
  return view(read_summaries(*snapshot, action, also));
}

View Ledger::view(const ViewEntries& entries) {
  const TimePoint now = options_.clock->now();
  View view;
  {
    MutexLock lock(mutex_);
    view = viewer_.view(entries, now);
  }
  if (options_.meter) options_.meter->on_view(view, now);
  return view;
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
