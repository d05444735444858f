// SPDX-License-Identifier: Apache-2.0
#include "controller/key_sources.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/sharding/shards.hpp>

#include "base/caught.hpp"
#include "cache/call_gate.hpp"
#include "controller/cluster_key.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

namespace {

// Returns the exception that is being handled, prefixed with the source's name.
std::exception_ptr named(const std::string& source) noexcept {
  try {
    try {
      throw;
    } catch (const std::exception& error) {
      std::throw_with_nested(Error("source " + source + ": " + error.what()));
    } catch (...) {
      std::throw_with_nested(Error("source " + source + ": " + detail::foreign_exception));
    }
  } catch (...) {
    return std::current_exception();
  }
}

}  // namespace

class KeySources::Receiver final : public KeySink::Receiver {
 public:
  Receiver(KeySources& sources, const SourceSpec& spec)
      : name_(spec.name), synced_(!spec.options.initial), sources_(sources) {}
  void on_key(const ObjectKey& key, const KeyOptions& options) noexcept override {
    if (const CallGate::Pass pass(gate_); pass) sources_.add(AddCause::source, name_, key, options);
  }
  void on_synced() noexcept override {
    synced_.store(true);
    if (const CallGate::Pass pass(gate_); pass) sources_.calls_.on_synced();
  }
  void detach() noexcept { gate_.close(); }
  bool synced() const { return synced_.load(); }
  const std::string& name() const { return name_; }

 private:
  const std::string name_;
  std::atomic<bool> synced_;
  KeySources& sources_;  // used inside the gate only
  CallGate gate_{GateEntry::shared};
};

KeySources::KeySources(const ControllerSpec& spec, const ControllerEnvironment& environment,
                       GatedQueue& queue, Log log, Calls calls)
    : spec_(spec), environment_(environment), queue_(queue), log_(std::move(log)), calls_(std::move(calls)) {
  for (const SourceSpec& source : spec.sources)
    receivers_.push_back(std::make_shared<Receiver>(*this, source));
  for (const TimerSpec& timer : spec.timers) timers_.add(timer.period);
}

void KeySources::subscribe() {
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    if (spec_.sources[i].subscribe)
      unsubscribe_.push_back(spec_.sources[i].subscribe(KeySink(receivers_[i])));
  }
}

void KeySources::start() {
  start_without_threads();
  for (std::size_t i = 0; i < receivers_.size(); ++i) {
    const SourceSpec& source = spec_.sources[i];
    if (source.run)
      threads_.emplace_back([this, &source, receiver = receivers_[i]] { run(source, receiver); });
  }
  if (!spec_.timers.empty()) threads_.emplace_back([this] { run_timers(); });
}

void KeySources::start_without_threads() {
  MutexLock lock(mutex_);
  timers_.start(environment_.clock->now());
}

void KeySources::run(const SourceSpec& spec, const std::shared_ptr<Receiver>& receiver) noexcept {
  try {
    calls_.on_thread_start(spec.name);
    spec.run(KeySink(receiver), stop_.get_token());
  } catch (const Cancelled&) {
    if (!stop_.stop_requested()) calls_.on_failure(std::current_exception());
  } catch (...) {
    calls_.on_failure(named(spec.name));
  }
}

void KeySources::run_timers() noexcept {
  try {
    calls_.on_thread_start("timers");
    while (sleep_until(*environment_.clock, next_due().value_or(TimePoint::max()), stop_.get_token()))
      fire_timers();
  } catch (...) {
    calls_.on_failure(std::current_exception());
  }
}

void KeySources::fire_timers() {
  if (spec_.timers.empty()) return;
  std::vector<std::size_t> due;
  {
    MutexLock lock(mutex_);
    due = timers_.on_timeout(environment_.clock->now());
  }
  for (const std::size_t number : due) {
    calls_.each_cluster(
        [&](const std::string& cluster, Cache& cache) { fire(spec_.timers[number], cluster, cache); });
  }
}

Log KeySources::log_in(const std::string& cluster) const {
  return cluster.empty() ? log_ : log_.with({{"cluster", cluster}});
}

void KeySources::fire(const TimerSpec& timer, const std::string& cluster, Cache& cache) {
  KeyOptions options = timer.options;
  options.cluster = cluster;
  try {
    for (const ObjectKey& key : timer.keys(cache)) add(AddCause::source, timer.name, key, options);
  } catch (const std::exception& error) {
    log_in(cluster).error("a timer found no keys", {{"source", timer.name}, {"error", error.what()}});
  }
}

std::optional<TimePoint> KeySources::next_due() const {
  MutexLock lock(mutex_);
  return timers_.next_due();
}

void KeySources::stop() noexcept {
  stop_.request_stop();
}

void KeySources::join() {
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

void KeySources::detach() noexcept {
  for (const auto& end : std::exchange(unsubscribe_, {})) end();
  for (const auto& receiver : receivers_) receiver->detach();
}

bool KeySources::all_synced() const {
  return std::all_of(receivers_.begin(), receivers_.end(), [](const auto& one) { return one->synced(); });
}

std::string KeySources::waiting_for() const {
  std::string missing;
  for (const auto& receiver : receivers_) {
    if (!receiver->synced()) missing += (missing.empty() ? "source " : "; source ") + receiver->name();
  }
  return missing;
}

void KeySources::add(AddCause cause, std::string_view source, const ObjectKey& key,
                     const KeyOptions& options) {
  if (key.name.empty()) {
    log_in(options.cluster)
        .error("a source added a key without a name; it is refused",
               {{"source", source}, {"namespace", key.namespace_}});
    return;
  }
  if (environment_.shards != nullptr &&
      !environment_.shards->owns(shard_namespace(options.cluster, key.namespace_), key.name))
    return;
  const RequestKey request = environment_.keys.intern(options.cluster, key.namespace_, key.name);
  const TimePoint now = environment_.clock->now();
  const AddedBy by = cause == AddCause::call ? AddedBy::call : AddedBy::source;
  queue_.add_unasked(request, options, now, {.by = by, .source = source});
  for (const auto& observer : environment_.observers)
    observer->key_added({.key = request,
                         .cause = cause,
                         .source = source,
                         .priority = options.priority,
                         .delay = options.delay,
                         .at = now});
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
