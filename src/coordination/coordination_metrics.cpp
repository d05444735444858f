// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <variant>

#include <evenkeel/coordination/coordination_metrics.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {
namespace {

std::string_view text_of(const Verdict& verdict) {
  if (verdict.nothing()) return "nothing";
  if (verdict.proceed() != nullptr) return "proceed";
  return verdict.wait() != nullptr ? "wait" : "blocked";
}

std::string_view text_of(StepReport::Kind kind) {
  switch (kind) {
    case StepReport::Kind::nothing:
      return "nothing";
    case StepReport::Kind::waits:
      return "waits";
    case StepReport::Kind::acted:
      return "acted";
    case StepReport::Kind::taken_over:
      return "taken_over";
    case StepReport::Kind::unavailable:
      return "unavailable";
    case StepReport::Kind::unknown:
      return "unknown";
    case StepReport::Kind::superseded:
      break;
  }
  return "superseded";
}

double seconds(Duration length) {
  return std::chrono::duration<double>(length).count();
}

std::map<std::string, ScopeFigures> scopes_of(const View& view, TimePoint now) {
  std::map<std::string, ScopeFigures> scopes;
  for (const Instance& instance : view.instances) {
    if (instance.record.moved_to.empty()) scopes.try_emplace(instance.scope);
  }
  for (const Member& member : view.pending) {
    ScopeFigures& figures = scopes[member.ref.scope];
    ++figures.pending;
    figures.oldest_pending = std::max(figures.oldest_pending, Duration(now - member.seen));
  }
  for (const Member& member : view.ready) ++scopes[member.ref.scope].ready;
  for (const Tally& tally : view.tallies) {
    ScopeFigures& figures = scopes[tally.scope];
    figures.pending += tally.pending;
    figures.ready += tally.ready;
    figures.oldest_pending = std::max(figures.oldest_pending, Duration(now - tally.first));
  }
  return scopes;
}

void collect(std::string_view domain, const std::string& action, const ActionFigures& figures,
             MetricSink& sink) {
  const MetricLabel of_domain{"domain", domain};
  const MetricLabel of_action{"action", action};
  for (const auto& [scope, one] : figures.scopes) {
    const MetricLabel of_scope{"scope", scope};
    constexpr std::string_view members = "evenkeel_coordination_members";
    constexpr std::string_view help = "Units that need an action (pending) or are prepared for it (ready)";
    sink.gauge(members, help, {of_domain, of_action, of_scope, {"phase", "pending"}},
               static_cast<double>(one.pending));
    sink.gauge(members, help, {of_domain, of_action, of_scope, {"phase", "ready"}},
               static_cast<double>(one.ready));
    sink.gauge("evenkeel_coordination_oldest_pending_seconds",
               "Time for which this instance has seen the oldest pending unit",
               {of_domain, of_action, of_scope}, seconds(one.oldest_pending));
  }
  sink.gauge("evenkeel_coordination_claim_epoch", "Epoch of the newest claim", {of_domain, of_action},
             static_cast<double>(figures.epoch));
  for (const auto& [verdict, count] : figures.verdicts) {
    sink.counter("evenkeel_coordination_verdicts_total", "Verdicts of the gate",
                 {of_domain, of_action, {"verdict", verdict}}, static_cast<double>(count));
  }
  for (const auto& [result, count] : figures.steps) {
    sink.counter("evenkeel_coordination_steps_total", "Results of attempts to act",
                 {of_domain, of_action, {"result", result}}, static_cast<double>(count));
  }
}

}  // namespace

/// A snapshot that counts its reads, including those that throw.
class MeteredStore::Snapshot final : public StoreSnapshot {
 public:
  Snapshot(MeteredStore& store, std::unique_ptr<StoreSnapshot> inner)
      : store_(store), inner_(std::move(inner)) {}

  Version version() const override { return inner_->version(); }
  std::optional<Entry> get(std::string_view key) override {
    std::optional<Entry> entry = tried([&] { return inner_->get(key); });
    add(entry ? entry->key.size() + entry->value.size() : 0);
    return entry;
  }
  ScanPage scan(const KeyRange& range, std::size_t limit) override {
    ScanPage page = tried([&] { return inner_->scan(range, limit); });
    std::size_t bytes = 0;
    for (const Entry& entry : page.entries) bytes += entry.key.size() + entry.value.size();
    add(bytes);
    return page;
  }

 private:
  template <class Read>
  std::invoke_result_t<const Read&> tried(const Read& read) {
    try {
      return read();
    } catch (const Error&) {
      store_.count([](StoreFigures& figures) { ++figures.failed_reads; });
      throw;
    }
  }
  void add(std::size_t bytes) {
    store_.count([bytes](StoreFigures& figures) {
      ++figures.reads;
      figures.read_bytes += bytes;
    });
  }

  MeteredStore& store_;
  std::unique_ptr<StoreSnapshot> inner_;
};

MeteredStore::MeteredStore(std::shared_ptr<Store> inner) : inner_(std::move(inner)) {
  if (!inner_) throw std::invalid_argument("MeteredStore: inner must not be null");
}

void MeteredStore::count(const std::function<void(StoreFigures&)>& change) {
  MutexLock guard(mutex_);
  change(figures_);
}

std::unique_ptr<StoreSnapshot> MeteredStore::snapshot(std::stop_token stop) {
  std::unique_ptr<StoreSnapshot> inner;
  try {
    inner = inner_->snapshot(std::move(stop));
  } catch (const Error&) {
    count([](StoreFigures& figures) { ++figures.failed_reads; });
    throw;
  }
  count([](StoreFigures& figures) { ++figures.snapshots; });
  return std::make_unique<Snapshot>(*this, std::move(inner));
}

CommitResult MeteredStore::commit(const Commit& commit, std::stop_token stop) {
  CommitResult result = inner_->commit(commit, std::move(stop));
  count([&](StoreFigures& figures) {
    if (std::holds_alternative<Conflict>(result)) ++figures.conflicts;
    if (std::holds_alternative<Unknown>(result)) ++figures.unknowns;
    if (std::holds_alternative<TooLarge>(result)) ++figures.too_large;
    if (std::holds_alternative<Unavailable>(result)) ++figures.unavailable;
    if (!std::holds_alternative<Committed>(result)) return;
    ++figures.committed;
    for (const Commit::Put& put : commit.puts) figures.written_bytes += put.key.size() + put.value.size();
  });
  return result;
}

std::unique_ptr<StoreWatch> MeteredStore::watch(const KeyRange& range, std::function<void()> hint) {
  return inner_->watch(range, std::move(hint));
}

StoreFigures MeteredStore::figures() const {
  MutexLock guard(mutex_);
  return figures_;
}

void CoordinationMeter::on_view(const View& view, TimePoint now) {
  std::map<std::pair<std::string, std::string>, std::size_t> instances;
  for (const Instance& one : view.instances) {
    if (!one.record.moved_to.empty()) continue;
    ++instances[{std::string(coordination::text_of(one.record.mode)),
                 std::string(coordination::text_of(one.presence))}];
  }
  MutexLock guard(mutex_);
  figures_.instances = std::move(instances);
  ActionFigures& action = figures_.actions[view.action];
  action.scopes = scopes_of(view, now);
  action.seen = now;
  if (view.claim) action.epoch = view.claim->record.epoch;
}

void CoordinationMeter::on_verdict(std::string_view action, const Verdict& verdict) {
  MutexLock guard(mutex_);
  ++figures_.actions[std::string(action)].verdicts[std::string(text_of(verdict))];
}

void CoordinationMeter::on_step(std::string_view action, StepReport::Kind kind) {
  MutexLock guard(mutex_);
  ++figures_.actions[std::string(action)].steps[std::string(text_of(kind))];
}

TimePoint CoordinationMeter::last_seen(std::string_view action) const {
  MutexLock guard(mutex_);
  const auto found = figures_.actions.find(std::string(action));
  return found == figures_.actions.end() ? TimePoint::min() : found->second.seen;
}

CoordinationFigures CoordinationMeter::figures() const {
  MutexLock guard(mutex_);
  return figures_;
}

void collect(const CoordinationFigures& figures, MetricSink& sink) {
  for (const auto& [action, one] : figures.actions) collect(figures.domain, action, one, sink);
  for (const auto& [key, count] : figures.instances) {
    sink.gauge("evenkeel_coordination_instances", "Registered instances",
               {{"domain", figures.domain}, {"mode", key.first}, {"presence", key.second}},
               static_cast<double>(count));
  }
}

void collect(const StoreFigures& figures, std::string_view domain, MetricSink& sink) {
  const MetricLabel of_domain{"domain", domain};
  const auto counter = [&](std::string_view name, std::string_view help, std::uint64_t value) {
    sink.counter(name, help, {of_domain}, static_cast<double>(value));
  };
  counter("evenkeel_coordination_store_snapshots_total", "Snapshots taken of the store", figures.snapshots);
  counter("evenkeel_coordination_store_reads_total", "Reads from snapshots", figures.reads);
  counter("evenkeel_coordination_store_failed_reads_total", "Snapshots and reads that failed or expired",
          figures.failed_reads);
  counter("evenkeel_coordination_store_read_bytes_total", "Keys and values read", figures.read_bytes);
  counter("evenkeel_coordination_store_written_bytes_total", "Keys and values written",
          figures.written_bytes);
  const std::array<std::pair<std::string_view, std::uint64_t>, 5> outcomes{
      {{"committed", figures.committed},
       {"conflict", figures.conflicts},
       {"unknown", figures.unknowns},
       {"too_large", figures.too_large},
       {"unavailable", figures.unavailable}}};
  for (const auto& [outcome, count] : outcomes) {
    sink.counter("evenkeel_coordination_store_commits_total", "Commits by outcome",
                 {of_domain, {"outcome", outcome}}, static_cast<double>(count));
  }
}

void collect(const LockFigures& figures, std::string_view domain, std::string_view scope, MetricSink& sink) {
  const MetricLabel of_domain{"domain", domain};
  const MetricLabel of_scope{"scope", scope};
  const auto counter = [&](std::string_view name, std::string_view help, double value) {
    sink.counter(name, help, {of_domain, of_scope}, value);
  };
  sink.gauge("evenkeel_coordination_lock_held", "1 while this instance holds the lock", {of_domain, of_scope},
             figures.holds ? 1 : 0);
  counter("evenkeel_coordination_lock_taken_total", "Times that the lock was taken",
          static_cast<double>(figures.taken));
  counter("evenkeel_coordination_lock_yielded_total", "Times that the lock was yielded to others",
          static_cast<double>(figures.yielded));
  counter("evenkeel_coordination_lock_refused_total", "Times that taking the lock was refused",
          static_cast<double>(figures.refused));
  counter("evenkeel_coordination_lock_unavailable_total", "Times that the store did not answer",
          static_cast<double>(figures.unavailable));
  counter("evenkeel_coordination_lock_wait_seconds_total", "Time from the first attempt to taking the lock",
          seconds(figures.waited));
  counter("evenkeel_coordination_lock_held_seconds_total", "Time for which the lock was held",
          seconds(figures.held));
}

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
