// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <random>
#include <utility>

#include <evenkeel/base/duration_text.hpp>
#include <evenkeel/base/stop.hpp>
#include <evenkeel/cache/write_effect.hpp>

#include "base/rounded_duration.hpp"
#include "cache/informer_impl.hpp"
#include "cache/server_log.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using detail::HandlerSlot;
using detail::StreamInput;

/// Number of inputs processed before other informers get their turn.
constexpr int inputs_per_turn = 32;
/// Waits of an informer for another one that tries whether its kind can be streamed: 10 ms, twice as long
/// each time, 1.3 s altogether. Most lists are complete by then; after it the informer lists in pages.
constexpr Duration first_streaming_wait = std::chrono::milliseconds{10};
constexpr unsigned streaming_waits = 7;
/// Number of objects that are remembered because an index failed for them; more are logged again.
constexpr std::size_t max_not_indexed = 1000;

Informer::Parts with_shared_parts(Informer::Parts parts) {
  if (!parts.server_log) parts.server_log = std::make_shared<detail::ServerLog>();
  if (!parts.streaming) parts.streaming = std::make_shared<detail::StreamingMemory>();
  return parts;
}

InformerOptions with_random(InformerOptions options) {
  if (!options.reflector.random) {
    auto engine = std::make_shared<std::mt19937_64>(std::random_device()());
    options.reflector.random = [engine] { return std::uniform_real_distribution<double>(0.0, 1.0)(*engine); };
  }
  return options;
}

/// Returns a random period within a tenth of `resync`, so that informers that began together do not deliver
/// everything together.
/// Source: controller-runtime pkg/cache/internal/informers.go, calculateResyncPeriod().
Duration resync_period(const InformerOptions& options) {
  if (options.resync <= Duration::zero()) return Duration::zero();
  const Duration middle = std::min(options.resync, Duration::max() / 2);
  return middle - middle / 10 +
         std::chrono::duration_cast<Duration>(options.reflector.random() * (middle / 5));
}

}  // namespace

Informer::Impl::Impl(Parts parts, InformerOptions options)
    : parts_(with_shared_parts(std::move(parts))),
      options_(with_random(std::move(options))),
      resync_period_(resync_period(options_)),
      selection_(options_),
      store_({.index_owners = options_.index_owners,
              .clock = &parts_.runner->clock(),
              .on_index_failure = [this](const IndexFailure& failure) { note_index_failure(failure); },
              .namespace_hash = hash()}),
      reflector_(options_.reflector),
      inbox_(std::make_shared<detail::StreamInbox>(parts_.runner, *this, options_.buffer_bytes)) {
  MutexLock lock(mutex_);
  set_kept({.form = options_.form, .projection = options_.projection});
}

void Informer::Impl::run() noexcept {
  deliver_to_new_handlers();
  if (!started_.load(std::memory_order_acquire)) return;
  if (!std::exchange(begun_, true)) begin_to_scan();
  take_ranges();
  StreamInput input;
  int turns = 0;
  for (; turns < inputs_per_turn && inbox_->take(input); ++turns) take(input);
  if (suspected_.exchange(false, std::memory_order_acquire) && activity_ == Activity::watching)
    carry_out(reflector_.on_suspicion(now()));
  advance();
  resync();
  if (due_ != TimePoint::max()) wake_when_due();  // an event may have moved it
  publish();
  if (turns == inputs_per_turn) parts_.runner->wake(*this);
}

/// Delivers the existing objects to new handlers, and drops removed handlers.
void Informer::Impl::deliver_to_new_handlers() {
  std::vector<std::shared_ptr<HandlerSlot>> slots;
  {
    MutexLock lock(mutex_);
    if (!slots_changed_) return;
    slots_changed_ = false;
    slots = slots_;
  }
  const auto known = std::exchange(notified_, {});
  for (const auto& slot : slots) {
    notified_.push_back(slot);
    if (std::find(known.begin(), known.end(), slot) != known.end() || !reflector_.synced()) continue;
    for (const WireObject& object : store_.snapshot())
      slot->notify({.type = EventType::added, .object = object}, true);
    slot->notify_synced();
  }
}

/// Passes the current selection to the reflector. Dropped ranges stop counting as held before their objects
/// are removed.
void Informer::Impl::take_ranges() {
  if (!ranges_changed_.exchange(false, std::memory_order_acquire)) return;
  WatchVerdict verdict;
  {
    MutexLock lock(mutex_);
    verdict = reflector_.reselect(ranges_.wanted());
    checks_labels_ = ranges_.is_selected() && parts_.on_mislabelled && !options_.reflector.cell_label.empty();
    ranges_.on_held(reflector_.held(), now());
    divided_.store(ranges_.is_divided(), std::memory_order_release);
  }
  if (verdict.change) store(std::move(*verdict.change));
  if (activity_ == Activity::resting) activity_ = Activity::idle;
  const bool runs = activity_ == Activity::listing || activity_ == Activity::watching;
  if (verdict.ends_watch && runs) {
    finish_stream();
    if (std::exchange(streams_, false)) parts_.streaming->on_failed(parts_.resource);
  }
  if (runs) due_ = reflector_.next_due().value_or(TimePoint::max());
}

/// Publishes the ranges that the store holds; returns true if they changed.
bool Informer::Impl::hold() {
  MutexLock lock(mutex_);
  const bool changed = ranges_.on_held(reflector_.held(), now());
  divided_.store(ranges_.is_divided(), std::memory_order_release);
  health_.missing_since = ranges_.missing_since();
  return changed;
}

/// Performs the reflector's next step if the previous one is complete.
void Informer::Impl::advance() {
  if (due_ <= now()) {
    due_ = TimePoint::max();
    if (activity_ == Activity::waiting) activity_ = Activity::idle;
    if (activity_ == Activity::watching) carry_out(reflector_.on_timeout(now()));
  }
  check_answer();
  while (true) {
    report_streaming();
    report_restore();
    if (activity_ != Activity::idle) return;
    {
      MutexLock lock(mutex_);
      if (stopped_) return;
    }
    choose_first_state();
    if (activity_ == Activity::idle) begin(reflector_.next_step(now()));
  }
}

bool Informer::Impl::keep(KeptParts kept, std::shared_ptr<CollectionSource> source,
                          std::shared_ptr<const detail::CollectionFile> copy) {
  MutexLock lock(mutex_);
  if (started_.load(std::memory_order_relaxed)) return false;
  parts_.source = std::move(source);
  parts_.copy = std::move(copy);
  set_kept(kept);
  return true;
}

void Informer::Impl::begin_to_scan() {
  scanner_.emplace(scanner_options());
  if (kept().form == WireForm::compressed) packer_ = std::make_unique<detail::ObjectPacker>();
  restore();
}

/// Begins with the copy from before the start, if there is one.
void Informer::Impl::restore() {
  if (!parts_.copy) return;
  {
    MutexLock lock(mutex_);
    if (!ranges_.wanted().is_all()) return;
  }
  try {
    auto copy = parts_.copy->read({.max_bytes = options_.reflector.max_list_bytes,
                                   .keep = [this](WireObject object) { return packed(std::move(object)); }});
    if (copy) reflector_.restore(std::move(copy->version), std::move(copy->objects));
  } catch (const Error& error) {
    parts_.log.warn("a copy on disk is ignored; listing the objects",
                    {{"kind", parts_.resource.kind}, {"error", std::string_view(error.what())}});
  }
}

void Informer::Impl::report_restore() {
  const auto why = reflector_.take_restore_failure();
  if (!why) return;
  parts_.log.info("a copy on disk is not used; listing the objects", {{"kind", parts_.resource.kind},
                                                                      {"namespace", options_.namespace_},
                                                                      {"file", parts_.copy->path().string()},
                                                                      {"reason", *why}});
}

/// Asks the memory of the server before a streaming list; waits or lists in pages if it says so.
void Informer::Impl::choose_first_state() {
  using Advice = detail::StreamingMemory::Advice;
  if (!reflector_.wants_streaming_list()) return;
  const Advice advice = parts_.streaming->on_request(parts_.resource, now());
  if (advice == Advice::wait && streaming_waits_ < streaming_waits) {
    activity_ = Activity::waiting;
    due_ = deadline_after(now(), first_streaming_wait * (1u << streaming_waits_++));
    return wake_when_due();
  }
  streaming_waits_ = 0;
  streams_ = advice == Advice::stream;
  if (!streams_) reflector_.list_instead();
}

/// Records the outcome of a streaming list in the memory of the server.
void Informer::Impl::report_streaming() {
  const auto outcome = reflector_.take_streaming_outcome();
  if (!outcome) return;
  streams_ = false;
  const auto log = [&](LogLevel level, std::string_view message) {
    parts_.log.write(
        level, message,
        {{"kind", parts_.resource.kind}, {"namespace", options_.namespace_}, {"reason", outcome->reason}});
  };
  if (outcome->kind == StreamingOutcome::Kind::complete) {
    if (parts_.streaming->on_complete(parts_.resource))
      log(LogLevel::info, "the server streams a kind again");
    return;
  }
  if (outcome->kind == StreamingOutcome::Kind::failed) {
    parts_.streaming->on_failed(parts_.resource);
    return log(LogLevel::debug, "a streaming list failed");
  }
  switch (parts_.streaming->on_unsupported(parts_.resource, now())) {
    case detail::StreamingMemory::News::none:
      return log(LogLevel::debug, "a streaming list failed");
    case detail::StreamingMemory::News::kind:
      return log(LogLevel::info, "the server does not stream a kind; listing it in pages");
    case detail::StreamingMemory::News::server:
      return log(LogLevel::info, "the server does not stream lists; listing in pages");
  }
}

/// Cancels a request that the server accepted but did not answer, and a list or an error that does not end.
void Informer::Impl::check_answer() {
  if (answer_due_ > now()) return;
  if (status_ != 0 && status_ != 200) return ended(nullptr);  // its status says more than its silence
  const bool listing = activity_ == Activity::listing;
  const std::string why =
      listing && list_due_ <= now()
          ? "the list did not end within " + format_duration(options_.reflector.list_timeout)
          : "the server took the request and did not answer within " + format_duration(head_timeout_);
  failed({.kind = ReflectorFailure::Kind::silent,
          .message = (listing ? "list " : "watch ") + parts_.resource.kind + ": " + why,
          .status = {}});
}

/// Delivers all objects again when it is time. The wake-up for the other due time may have been used up.
void Informer::Impl::resync() {
  if (resync_period_ <= Duration::zero() || !reflector_.synced()) return;
  if (resync_due_ <= now()) {
    for (const WireObject& object : store_.snapshot()) {
      for (const auto& slot : notified_)
        slot->notify({.type = EventType::updated, .object = object, .old = object, .resync = true}, false);
    }
  }
  if (resync_due_ <= now() || resync_due_ == TimePoint::max())
    resync_due_ = deadline_after(now(), resync_period_);
  wake_when_due();
}

void Informer::Impl::store(ReflectorChange change) {
  std::vector<StoreDelta> deltas;
  switch (change.kind) {
    case ReflectorChange::Kind::apply:
      if (!deletions_.is_over(change.object)) deltas = store_.apply(change.object);
      break;
    case ReflectorChange::Kind::remove:
      deltas = store_.remove(change.object);
      deletions_.on_deleted(change.object);
      break;
    case ReflectorChange::Kind::replace:
      if (packer_) packer_->pack_all(change.objects);
      deltas = store_.replace(std::move(change.objects));
      deletions_.on_listed(reflector_.resource_version(), deltas);
      break;
    case ReflectorChange::Kind::extend:
      if (packer_) packer_->pack_all(change.objects);
      deltas = store_.extend(change.ranges, std::move(change.objects));
      break;
    case ReflectorChange::Kind::drop:
      store_.drop(change.ranges);
      break;
  }
  const bool grows = change.kind == ReflectorChange::Kind::extend;
  for (const StoreDelta& delta : deltas) {
    for (const auto& slot : notified_) slot->notify(delta, change.first || grows);
  }
  if ((grows || change.kind == ReflectorChange::Kind::replace) && hold()) {
    for (const auto& slot : notified_) slot->notify_held();
  }
  if (!change.first) return;
  publish();  // a handler may read from the cache as soon as it is synced
  for (const auto& slot : notified_) slot->notify_synced();
}

void Informer::Impl::publish() {
  store_.reached(reflector_.resource_version());
  const WatchProblem problem = reflector_.problem();
  if (problem == WatchProblem::none) {
    failing_since_.reset();
    unreadable_log_.works(now());
    if (unreachable_) {
      if (parts_.server_log->works(now())) parts_.log.info("the server can be reached again");
      unreachable_ = parts_.server_log->logs_end();
    }
    if (failure_log_.works(now()))
      parts_.log.info("lists and watches again",
                      {{"kind", parts_.resource.kind}, {"namespace", options_.namespace_}});
  } else if (!failing_since_) {
    failing_since_ = now();
  }
  static constexpr const char* names[] = {"idle", "listing", "watching", "waiting", "resting"};
  MutexLock lock(mutex_);
  const bool becomes_synced = reflector_.synced() && !health_.synced;
  health_.synced = reflector_.synced();
  if (!stopped_) health_.activity = names[static_cast<std::size_t>(activity_)];
  if (health_.last_error != reflector_.last_error()) health_.last_error = reflector_.last_error();
  health_.problem = problem;
  health_.failing_since = failing_since_;
  health_.next_attempt = activity_ == Activity::waiting ? std::optional(due_) : std::nullopt;
  if (health_.resource_version != reflector_.resource_version())
    health_.resource_version = reflector_.resource_version();
  health_.last_event = last_event_;
  ranges_.on_held(reflector_.held(), now());
  health_.missing_since = ranges_.missing_since();
  health_.counters = reflector_.counters();
  health_.bytes = reflector_.listed_bytes();
  if (becomes_synced) changed_.notify_all();
}

void Informer::Impl::note_index_failure(const IndexFailure& failure) {
  const std::string key = failure.object.key().str();
  MutexLock lock(mutex_);
  ++index_failures_;
  if (not_indexed_.size() >= max_not_indexed) not_indexed_.clear();
  const bool should_log = not_indexed_.insert(failure.index.name + " " + key).second;
  lock.unlock();
  parts_.log.write(should_log ? LogLevel::error : LogLevel::debug,
                   "the function of an index failed; the object is not in the index",
                   {{"kind", parts_.resource.kind},
                    {"index", failure.index.name},
                    {"object", key},
                    {"error", failure.error}});
}

void Informer::Impl::log_failure(TimePoint next) {
  const WatchProblem problem = reflector_.problem();
  const bool server = problem == WatchProblem::unreachable;
  unreachable_ = unreachable_ || server;
  const bool should_log = server ? parts_.server_log->failed(now())
                                 : failure_log_.failed(problem, reflector_.last_error(), now());
  std::string error = reflector_.last_error();
  if (const std::string_view hint = watch_problem_hint(problem); !hint.empty())
    error.append("; ").append(hint);
  const char* begins = server ? "cannot reach the server; retrying" : "cannot list or watch; retrying";
  parts_.log.write(should_log ? LogLevel::warn : LogLevel::debug,
                   should_log ? begins : "still cannot list or watch",
                   {{"kind", parts_.resource.kind},
                    {"namespace", options_.namespace_},
                    {"problem", watch_problem_name(problem)},
                    {"error", error},
                    {"next_try_in", detail::format_rounded(next - now())}});
}

void Informer::Impl::stop() {
  std::vector<std::shared_ptr<HandlerSlot>> slots;
  {
    MutexLock lock(mutex_);
    stopped_ = true;
    slots = slots_;
    health_.activity = "stopped";
    changed_.notify_all();
  }
  inbox_->close();
  parts_.runner->forget(*this);
  inbox_->end_stream();  // a stream that run() has opened concurrently
  if (std::exchange(streams_, false)) parts_.streaming->on_failed(parts_.resource);
  for (const auto& slot : slots) slot->close();
}

HandlerId Informer::Impl::add_handler(std::shared_ptr<EventHandler> handler, HandlerOptions options) {
  MutexLock lock(mutex_);
  const HandlerId id = ++last_id_;
  const Delivery delivery = parts_.runner->has_threads() ? options.delivery : Delivery::direct;
  slots_.push_back(HandlerSlot::make(id, std::move(handler), delivery));
  slots_changed_ = true;
  lock.unlock();
  parts_.runner->wake(*this);
  return id;
}

void Informer::Impl::remove_handler(HandlerId id) {
  std::shared_ptr<HandlerSlot> slot;
  {
    MutexLock lock(mutex_);
    const auto at =
        std::find_if(slots_.begin(), slots_.end(), [id](const auto& one) { return one->id() == id; });
    if (at == slots_.end()) return;
    slot = *at;
    slots_.erase(at);
    slots_changed_ = true;
  }
  slot->close();
  parts_.runner->wake(*this);
}

bool Informer::Impl::handler_synced(HandlerId id) const {
  MutexLock lock(mutex_);
  const auto at =
      std::find_if(slots_.begin(), slots_.end(), [id](const auto& one) { return one->id() == id; });
  return at != slots_.end() && (*at)->synced();
}

bool Informer::Impl::wait_for_sync(std::stop_token stop) const {
  const StopWaker waker(stop, mutex_, changed_);
  MutexLock lock(mutex_);
  while (!health_.synced && !stopped_ && !stop.stop_requested()) changed_.wait(lock);
  return health_.synced;
}

InformerHealth Informer::Impl::health() const {
  MutexLock lock(mutex_);
  InformerHealth health = health_;
  health.index_failures = index_failures_;
  lock.unlock();
  health.objects = store_.size();
  health.bytes += store_.bytes();
  return health;
}

Informer::Informer(Parts parts, InformerOptions options)
    : impl_(std::make_shared<Impl>(std::move(parts), std::move(options))) {}
Informer::~Informer() {
  stop();
}

const ResourceId& Informer::resource() const noexcept {
  return impl_->parts_.resource;
}
const InformerOptions& Informer::options() const noexcept {
  return impl_->options_;
}
const KeptParts& Informer::kept() const noexcept {
  return impl_->kept();
}
bool Informer::keep(KeptParts kept, std::shared_ptr<CollectionSource> source,
                    std::shared_ptr<const detail::CollectionFile> copy) {
  return impl_->keep(kept, std::move(source), std::move(copy));
}
WireObject Informer::wire_of(std::string_view json) const {
  return WireScanner(impl_->scanner_options()).object(json);
}
const ObjectStore& Informer::store() const noexcept {
  return impl_->store_;
}
void Informer::start() {
  impl_->start();
}
void Informer::select(const HashRanges& wanted) {
  if (resource().scope == Scope::cluster) return;
  impl_->change_ranges([&wanted](detail::InformerRanges& ranges) { ranges.select(wanted); });
}
void Informer::require_all() {
  impl_->change_ranges([](detail::InformerRanges& ranges) { ranges.require_all(); });
}
bool Informer::holds(std::string_view namespace_) const {
  return impl_->holds(namespace_);
}
void Informer::suspect() {
  impl_->suspect();
}
void Informer::stop() {
  impl_->stop();
}
HandlerId Informer::add_handler(std::shared_ptr<EventHandler> handler, HandlerOptions options) {
  return impl_->add_handler(std::move(handler), options);
}
void Informer::remove_handler(HandlerId id) {
  impl_->remove_handler(id);
}
bool Informer::handler_synced(HandlerId id) const {
  return impl_->handler_synced(id);
}
bool Informer::synced() const {
  return impl_->synced();
}
std::size_t Informer::size() const {
  return impl_->store_.size();
}
void Informer::add_index(IndexDefinition definition) {
  impl_->store_.add_index(std::move(definition));
}
void Informer::record(WriteEffect effect) {
  if (effect.object) effect.selection = impl_->selection_.of(effect.object);
  impl_->store_.record(std::move(effect));
}
bool Informer::wait_for_sync(std::stop_token stop) const {
  return impl_->wait_for_sync(std::move(stop));
}
InformerHealth Informer::health() const {
  return impl_->health();
}

}  // namespace v0
}  // namespace evenkeel
