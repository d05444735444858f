// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <stdexcept>
#include <utility>

#include <evenkeel/cache/reflector.hpp>

#include "base/cells.hpp"
#include "cache/reflector_failures.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using Kind = ReflectorFailure::Kind;
using detail::reflector::is_expired;
using detail::reflector::is_throttled;
using detail::reflector::text_of;

/// Returns true if the server has not seen the requested resourceVersion yet. Old servers report this only in
/// the message.
bool is_too_large(const Status& status) {
  for (const StatusCause& cause : status.causes) {
    if (cause.reason == "ResourceVersionTooLarge") return true;
  }
  return status.message.find("Too large resource version") != std::string::npos;
}

/// Returns true if the server will reject the next streaming list as well. A server that lacks them rejects
/// their parameters; one whose etcd lacks progress notifications ends the stream with a 500.
/// Source: apiserver pkg/storage/cacher/cacher.go, Watch.
bool rejects_streaming(const Status& status, bool in_stream) {
  switch (status.code) {
    case 400:
    case 403:
    case 405:
    case 406:
    case 415:
    case 422:
    case 501:
      return true;
    default:
      return in_stream && status.code == 500;
  }
}

WatchProblem problem_of(const ReflectorFailure& failure) {
  if (failure.kind == Kind::unreachable || failure.kind == Kind::silent) return WatchProblem::unreachable;
  if (failure.kind != Kind::refused) return WatchProblem::other;
  switch (failure.status.code) {
    case 401:
      return WatchProblem::unauthorized;
    case 403:
      return WatchProblem::forbidden;
    case 404:
      return WatchProblem::no_such_kind;
    default:
      return WatchProblem::other;
  }
}

/// Shortest time without an event after which a copy counts as caught up.
constexpr Duration shortest_settle = std::chrono::milliseconds{20};

/// Number of ranges in the address of a request. More are joined at their narrowest gaps, and the objects in
/// these are ignored: proxies limit the length of addresses to 8 KiB.
constexpr std::size_t most_ranges = 32;

std::string selector_of(const HashRanges& ranges) {
  return ranges.is_all() ? "" : ranges.coarse(most_ranges).shard_selector("object.metadata.namespace");
}

void add_selectors(std::vector<std::pair<std::string, std::string>>& query, const std::string& shards,
                   const std::string& labels) {
  if (!shards.empty()) query.emplace_back("shardSelector", shards);
  if (!labels.empty()) query.emplace_back("labelSelector", labels);
}

}  // namespace

std::vector<std::pair<std::string, std::string>> query_of(const ReflectorStep& step) {
  std::vector<std::pair<std::string, std::string>> query;
  if (const auto* list = std::get_if<ListRequest>(&step)) {
    if (list->limit != 0) query.emplace_back("limit", std::to_string(list->limit));
    // A continue token contains its resourceVersion; servers reject requests with both.
    if (!list->continue_token.empty())
      query.emplace_back("continue", list->continue_token);
    else if (!list->resource_version.empty())
      query.emplace_back("resourceVersion", list->resource_version);
    add_selectors(query, list->shard_selector, list->label_selector);
  } else if (const auto* watch = std::get_if<WatchRequest>(&step)) {
    query.emplace_back("watch", "true");
    query.emplace_back("allowWatchBookmarks", "true");
    if (!watch->resource_version.empty() || !watch->initial_events)
      query.emplace_back("resourceVersion", watch->resource_version);
    if (watch->initial_events) {
      query.emplace_back("sendInitialEvents", "true");
      query.emplace_back("resourceVersionMatch", "NotOlderThan");
    }
    query.emplace_back("timeoutSeconds", std::to_string(watch->timeout.count()));
    add_selectors(query, watch->shard_selector, watch->label_selector);
  }
  return query;
}

Reflector::Reflector(ReflectorOptions options)
    : options_(std::move(options)), backoff_(options_.backoff_base) {
  if (options_.page_size == 0) throw std::invalid_argument("Reflector: page_size must be > 0");
  if (options_.watch_timeout < std::chrono::seconds{1})
    throw std::invalid_argument("Reflector: watch_timeout must be at least 1 s");
  if (options_.list_timeout <= Duration::zero())
    throw std::invalid_argument("Reflector: list_timeout must be > 0");
  if (options_.backoff_base <= Duration::zero() || options_.backoff_max < options_.backoff_base)
    throw std::invalid_argument("Reflector: need 0 < backoff_base <= backoff_max");
  if (options_.missing_max <= Duration::zero())
    throw std::invalid_argument("Reflector: missing_max must be > 0");
  if (options_.watch_head_timeout <= Duration::zero() || options_.list_head_timeout <= Duration::zero())
    throw std::invalid_argument("Reflector: watch_head_timeout and list_head_timeout must be > 0");
}

ReflectorStep Reflector::next_step(TimePoint now) {
  if (const auto pause = take_pause()) return PauseRequest{*pause};
  if (std::holds_alternative<Recognizing>(state_)) return begin_recognizing();
  if (auto* catching_up = std::get_if<CatchingUp>(&state_)) return begin_catching_up(*catching_up, now);
  if (auto* listing = std::get_if<Listing>(&state_)) {
    if (listing->restarts || !listing->continue_token.empty()) return continue_list(*listing);
  }
  const auto* relisting = std::get_if<Relisting>(&state_);
  const bool rests = std::holds_alternative<Resuming>(state_) || std::holds_alternative<Watching>(state_);
  if (rests || (relisting != nullptr && relisting->grows)) return rest(now);
  const bool cycle_begins =
      std::holds_alternative<Starting>(state_) || std::holds_alternative<Streaming>(state_);
  if (cycle_begins && options_.streaming_list && !list_first_) return begin_streaming(now);
  return begin_list();
}

/// Continues from a complete state of what is held.
ReflectorStep Reflector::rest(TimePoint now) {
  const HashRanges further = missing();
  if (!further.empty() && grow_at_ <= now) {
    if (!std::holds_alternative<Relisting>(state_)) state_ = Relisting{.grows = true};
    return begin_list();
  }
  if (!held_.empty()) return begin_watch(now);
  state_ = Resuming{};
  if (further.empty()) return IdleRequest{};
  return PauseRequest{grow_at_ - now};
}

bool Reflector::wants_streaming_list() const {
  const auto* starting = std::get_if<Starting>(&state_);
  return starting != nullptr && !starting->pause && options_.streaming_list && !list_first_;
}

void Reflector::list_instead() {
  if (wants_streaming_list()) state_ = Relisting{};
}

std::optional<StreamingOutcome> Reflector::take_streaming_outcome() {
  return std::exchange(outcome_, std::nullopt);
}

std::optional<Duration> Reflector::take_pause() {
  if (auto* recognizing = std::get_if<Recognizing>(&state_))
    return std::exchange(recognizing->pause, std::nullopt);
  if (auto* catching_up = std::get_if<CatchingUp>(&state_))
    return std::exchange(catching_up->pause, std::nullopt);
  if (auto* starting = std::get_if<Starting>(&state_)) return std::exchange(starting->pause, std::nullopt);
  if (auto* resuming = std::get_if<Resuming>(&state_)) return std::exchange(resuming->pause, std::nullopt);
  return std::nullopt;
}

// ---- Lists

ListRequest Reflector::begin_list() {
  ++counters_.lists;
  Listing listing{.version = version_unavailable_ ? "" : resource_version_.empty() ? "0" : resource_version_};
  if (const auto* relisting = std::get_if<Relisting>(&state_)) {
    listing.used = relisting->used;
    listing.grows = relisting->grows;
  }
  if (const auto* begun = std::get_if<Listing>(&state_)) listing.used = begun->used;
  if (listing.grows) ++counters_.growths;
  listing.of = listing.grows ? missing() : wanted_;
  // "0" means any version in the server's memory. A limit makes the server read its database instead, so it
  // is used only if the server does that anyway.
  const bool paged = listing.version.empty() || listing.version == "0" || pages_at_zero_;
  const ListRequest request =
      selecting(ListRequest{listing.version, {}, paged ? options_.page_size : 0}, listing.of);
  state_ = std::move(listing);
  return request;
}

ListRequest Reflector::continue_list(Listing& listing) {
  if (!listing.restarts)
    return selecting(ListRequest{{}, listing.continue_token, options_.page_size}, listing.of);
  listing.collected = {};
  return selecting(ListRequest{.resource_version = listing.version}, listing.of);
}

const Reflector::Collected* Reflector::collected() const {
  if (const auto* listing = std::get_if<Listing>(&state_)) return &listing->collected;
  if (const auto* streaming = std::get_if<Streaming>(&state_)) return &streaming->collected;
  if (const auto* catching_up = std::get_if<CatchingUp>(&state_)) return &catching_up->saved.collected;
  return nullptr;
}

void Reflector::collect(Collected& collected, WireObject object) {
  collected.bytes += object.bytes();
  collected.objects.push_back(std::move(object));
}

void Reflector::collect(Collected& collected, const WireEvent& event) {
  if (event.type != WatchType::deleted) return collect(collected, event.object);
  collected.bytes += event.object.bytes();
  collected.removals.push_back({event.object, collected.objects.size()});
}

/// Returns the objects that were not deleted, in one pass.
std::vector<WireObject> Reflector::take_objects(Collected& collected) {
  std::vector<WireObject> objects = std::move(collected.objects);
  if (collected.removals.empty()) return objects;
  using Key = std::pair<std::string_view, std::string_view>;
  std::map<Key, std::size_t> removed;  // the last removal of each; text is kept by collected.removals
  for (const auto& [object, before] : collected.removals)
    removed[{object.namespace_(), object.name()}] = before;
  std::size_t position = 0;
  std::erase_if(objects, [&](const WireObject& object) {
    const auto found = removed.find(Key(object.namespace_(), object.name()));
    return position++ < (found == removed.end() ? 0 : found->second);
  });
  return objects;
}

void Reflector::on_item(WireObject object) {
  if (std::holds_alternative<Recognizing>(state_)) return recognize(object);
  if (auto* listing = std::get_if<Listing>(&state_)) collect(listing->collected, std::move(object));
}

std::size_t Reflector::listed_bytes() const {
  const Collected* found = collected();
  return found == nullptr ? 0 : found->bytes;
}

std::optional<ReflectorFailure> Reflector::list_excess() const {
  const Collected* found = collected();
  if (found == nullptr) return std::nullopt;
  std::string limit;
  if (found->bytes > options_.max_list_bytes) limit = std::to_string(options_.max_list_bytes) + " bytes";
  if (found->pages > options_.max_list_pages) limit = std::to_string(options_.max_list_pages) + " pages";
  if (limit.empty()) return std::nullopt;
  return ReflectorFailure{.kind = Kind::undecodable, .message = "the list is longer than " + limit};
}

std::optional<ReflectorChange> Reflector::on_list_ended(const ListMetadata& metadata) {
  if (std::holds_alternative<Recognizing>(state_)) return on_recognized(metadata);
  auto* listing = std::get_if<Listing>(&state_);
  if (listing == nullptr) return std::nullopt;
  if (!metadata.continue_token.empty()) {
    ++listing->collected.pages;
    if (listing->version == "0") pages_at_zero_ = true;
    listing->continue_token = metadata.continue_token;
    listing->restarts = false;
    return std::nullopt;
  }
  Listing complete = std::move(*listing);
  state_ = Resuming{};
  if (complete.grows) return on_growth_ended(std::move(complete), metadata.resource_version);
  return replacement(metadata.resource_version, std::move(complete.collected.objects), complete.of);
}

ReflectorChange Reflector::replacement(std::string resource_version, std::vector<WireObject> objects,
                                       const HashRanges& of) {
  take_version(resource_version);
  held_ = of.within(wanted_);
  fresh_.clear();
  growth_failed_ = false;
  std::erase_if(objects, [this](const WireObject& object) { return !keeps(object); });
  version_unavailable_ = false;
  list_first_ = false;
  if (!watch_failed_) works();
  return {.kind = ReflectorChange::Kind::replace,
          .objects = std::move(objects),
          .first = !std::exchange(synced_, true)};
}

/// Takes the objects of missing ranges over. Their state may be later than that of the watch, which goes on
/// where it was: it repeats what has happened to them before.
std::optional<ReflectorChange> Reflector::on_growth_ended(Listing listing, const std::string& version) {
  const bool alone = held_.empty();
  const auto order = compare_resource_versions(version, resource_version_);
  version_unavailable_ = false;
  if (!alone && order == std::strong_ordering::less) {  // the server has gone back: all is listed again
    version_unavailable_ = true;
    state_ = Relisting{};
    return std::nullopt;
  }
  growth_failed_ = false;
  if (!watch_failed_) works();
  const HashRanges gained = listing.of.within(wanted_);
  if (gained.empty()) return std::nullopt;
  if (alone) {
    take_version(version);
    fresh_.clear();  // of ranges that were dropped
  } else if (order == std::strong_ordering::greater) {
    fresh_.push_back({gained, version});
  }
  held_ = held_.with(gained);
  std::vector<WireObject> objects = std::move(listing.collected.objects);
  std::erase_if(objects, [&](const WireObject& object) { return !gained.contains(hash_of(object)); });
  return ReflectorChange{
      .kind = ReflectorChange::Kind::extend, .objects = std::move(objects), .ranges = gained};
}

void Reflector::take_version(std::string_view version) {
  resource_version_ = version;
}

/// Returns true if an event, or an item of a list, is part of what is held, and no older than that.
bool Reflector::keeps(const WireObject& object) const {
  if (held_.is_all() && fresh_.empty()) return true;
  const std::uint64_t hash = hash_of(object);
  if (!held_.contains(hash)) return false;
  return std::none_of(fresh_.begin(), fresh_.end(), [&](const Fresh& fresh) {
    const auto order = compare_resource_versions(object.resource_version(), fresh.version);
    return fresh.ranges.contains(hash) && order && *order != std::strong_ordering::greater;
  });
}

std::optional<TimePoint> Reflector::next_growth_attempt() const {
  if (!growth_failed_ || missing().empty()) return std::nullopt;
  return grow_at_;
}

WatchVerdict Reflector::reselect(HashRanges wanted) {
  WatchVerdict verdict;
  if (wanted == wanted_) return verdict;
  wanted_ = std::move(wanted);
  const HashRanges loss = held_.without(wanted_);
  held_ = held_.within(wanted_);
  if (!loss.empty()) verdict.change = ReflectorChange{.kind = ReflectorChange::Kind::drop, .ranges = loss};
  if (missing().empty()) growth_failed_ = false;
  if (wanted_.empty()) {
    if (!synced_) verdict.change = replacement(resource_version_, {}, {});
    verdict.ends_watch = true;
    state_ = Resuming{};
    return verdict;
  }
  if (std::holds_alternative<Recognizing>(state_) || std::holds_alternative<CatchingUp>(state_)) {
    drop_saved("only a part of the objects is wanted");
    verdict.ends_watch = true;
  }
  const auto* watching = std::get_if<Watching>(&state_);
  if (watching != nullptr && (watching->of != held_ || !missing().empty())) {
    state_ = Resuming{};
    verdict.ends_watch = true;
  }
  return verdict;
}

void Reflector::on_list_failed(const ReflectorFailure& failure, TimePoint now) {
  if (std::holds_alternative<Recognizing>(state_)) return on_recognizing_failed(failure, now);
  auto* listing = std::get_if<Listing>(&state_);
  if (listing == nullptr) return;
  const bool expired = is_expired(failure);
  fails(text_of(failure), failure, false);
  if (failure.kind == Kind::undecodable) ++counters_.undecodable;
  if (expired || is_too_large(failure.status)) {
    ++counters_.expired;
    // The token has expired: read the list in one piece instead, once, because a server may page that, too.
    const bool between_pages = !listing->continue_token.empty();
    if (expired && between_pages && !std::exchange(listing->used.in_one_piece, true)) {
      listing->continue_token.clear();
      listing->restarts = true;
      return;
    }
    version_unavailable_ = true;
    if (!std::exchange(listing->used.newest, true)) {
      state_ = Relisting{listing->used, listing->grows};
      return;
    }
  }
  if (listing->grows) {
    growth_failed_ = true;
    grow_at_ = deadline_after(now, back_off(now, failure.status.retry_after));
    state_ = Resuming{};
    return;
  }
  start_cycle(now, failure.status.retry_after);
}

// ---- Watches

WatchRequest Reflector::begin_watch(TimePoint now) {
  ++counters_.watches;
  state_ = Watching{.began = now,
                    .heard = TimePoint::min(),
                    .from = resource_version_,
                    .unordered = resource_version_.empty() || resource_version_ == "0",
                    .of = held_};
  return selecting(WatchRequest{.resource_version = resource_version_, .timeout = watch_life()}, held_);
}

WatchRequest Reflector::begin_streaming(TimePoint now) {
  ++counters_.watches;
  ++counters_.streaming_lists;
  const std::string from = version_unavailable_ ? "" : resource_version_;
  const std::chrono::seconds life = watch_life();
  const TimePoint due = deadline_after(now, options_.streaming_deadline);
  // A server that lets a watch live longer than requested is as broken as one that is silent.
  state_ =
      Streaming{.began = now, .due = due, .latest = deadline_after(due, life), .from = from, .of = wanted_};
  return selecting(WatchRequest{.resource_version = from, .timeout = life, .initial_events = true}, wanted_);
}

/// Returns the request for the objects of these ranges.
template <class Request>
Request Reflector::selecting(Request request, const HashRanges& ranges) const {
  if (options_.cell_label.empty())
    request.shard_selector = selector_of(ranges);
  else
    request.label_selector = detail::cell_selector(options_.cell_label, ranges);
  return request;
}

std::uint64_t Reflector::hash_of(const WireObject& object) const {
  return detail::hash_of(object.namespace_(),
                         options_.cell_label.empty() ? NamespaceHash::plain : NamespaceHash::mixed);
}

std::chrono::seconds Reflector::watch_life() {
  const auto shortest = static_cast<double>(options_.watch_timeout.count());
  return std::chrono::seconds(static_cast<std::int64_t>(shortest * (1.0 + random())));
}

void Reflector::on_watch_opened(TimePoint now) {
  if (auto* streaming = std::get_if<Streaming>(&state_)) {
    streaming->opened = true;
    streaming->due = deadline_after(now, options_.streaming_deadline);
  }
  if (auto* catching_up = std::get_if<CatchingUp>(&state_)) {
    // A server that took long to accept the watch, or is far away, may take as long to send what was missed.
    const Duration patience = std::max(shortest_settle, 4 * (now - catching_up->began));
    catching_up->settle = std::min(patience, options_.restore_settle);
    catching_up->due = deadline_after(now, catching_up->settle);
  }
  if (auto* watching = std::get_if<Watching>(&state_)) watching->heard = now;
  // After a watch that failed this one works only once it has lasted, or delivered something; but the server
  // can be reached.
  if (!watch_failed_ || problem_ == WatchProblem::unreachable) works();
}

WatchVerdict Reflector::on_event(const WireEvent& event, TimePoint now) {
  auto* streaming = std::get_if<Streaming>(&state_);
  auto* watching = std::get_if<Watching>(&state_);
  auto* catching_up = std::get_if<CatchingUp>(&state_);
  if (streaming == nullptr && watching == nullptr && catching_up == nullptr) return {};
  if (event.type == WatchType::error) {
    end_watch(ReflectorFailure{.kind = Kind::refused, .message = {}, .status = event.error}, true, now);
    return {.change = {}, .ends_watch = true};
  }
  ++counters_.events;
  if (streaming != nullptr) return on_initial_event(*streaming, event, now);
  if (catching_up != nullptr) return on_missed_event(*catching_up, event, now);
  works();
  watching->heard = now;
  if (event.type != WatchType::added) watching->unordered = false;
  const bool kept = event.type != WatchType::bookmark && keeps(event.object);
  // Synthetic ADDED events list existing objects without an order: resuming from one would lose the others.
  if (!watching->unordered) advance_to(event.object.resource_version());
  if (!kept) return {};
  const bool gone = event.type == WatchType::deleted;
  return {.change =
              ReflectorChange{.kind = gone ? ReflectorChange::Kind::remove : ReflectorChange::Kind::apply,
                              .object = event.object}};
}

/// Until the bookmark that ends the first state, events are items of a list.
WatchVerdict Reflector::on_initial_event(Streaming& streaming, const WireEvent& event, TimePoint now) {
  if (event.type == WatchType::bookmark && event.object.annotation("k8s.io/initial-events-end") == "true") {
    std::vector<WireObject> objects = take_objects(streaming.collected);
    const HashRanges of = streaming.of;
    state_ = Watching{.began = streaming.began, .heard = now, .from = streaming.from, .of = of};
    works();
    outcome_ = StreamingOutcome{};
    WatchVerdict verdict{
        .change = replacement(std::string(event.object.resource_version()), std::move(objects), of)};
    verdict.ends_watch = of != wanted_;
    if (verdict.ends_watch) state_ = Resuming{};
    return verdict;
  }
  // The first state consists of additions. A server that ignores the request for its end sends them as well,
  // and changes as they happen: these must not keep the list waiting.
  streaming.only_added = streaming.only_added && event.type == WatchType::added;
  if (streaming.only_added)
    streaming.due = std::min(deadline_after(now, options_.streaming_deadline), streaming.latest);
  // The later state of a repeated object wins.
  if (event.type != WatchType::bookmark) collect(streaming.collected, event);
  return {};
}

void Reflector::advance_to(std::string_view version) {
  if (version.empty()) return;
  const auto order = compare_resource_versions(version, resource_version_);
  if (order && *order != std::strong_ordering::greater) return;
  take_version(version);
  std::erase_if(fresh_, [this](const Fresh& fresh) {
    const auto reached = compare_resource_versions(fresh.version, resource_version_);
    return !reached || *reached != std::strong_ordering::greater;
  });
}

void Reflector::on_undecodable(const std::string& message, TimePoint now) {
  on_watch_ended(ReflectorFailure{.kind = Kind::undecodable, .message = message}, now);
}

std::optional<TimePoint> Reflector::next_due() const {
  if (const auto* streaming = std::get_if<Streaming>(&state_)) return streaming->due;
  if (const auto* catching_up = std::get_if<CatchingUp>(&state_)) return catching_up->due;
  if (const auto* watching = std::get_if<Watching>(&state_)) {
    if (!watch_failed_ || watching->heard == TimePoint::min()) return next_growth_attempt();
    const TimePoint lasted = deadline_after(watching->heard, options_.short_watch);
    return std::min(lasted, next_growth_attempt().value_or(lasted));
  }
  return std::nullopt;
}

bool Reflector::collects_events() const {
  return std::holds_alternative<Streaming>(state_) || std::holds_alternative<CatchingUp>(state_);
}

WatchVerdict Reflector::on_timeout(TimePoint now) {
  const auto due = next_due();
  if (!due || now < *due) return {};
  if (std::holds_alternative<CatchingUp>(state_)) return {.change = caught_up()};
  if (const auto* watching = std::get_if<Watching>(&state_)) {
    if (watch_failed_ && watching->heard != TimePoint::min() && now - watching->heard >= options_.short_watch)
      works();
    if (now < next_growth_attempt().value_or(TimePoint::max())) return {};
    state_ = Resuming{};
    return {.change = {}, .ends_watch = true};
  }
  // A server that did not even accept the request is away rather than old.
  const bool opened = std::get<Streaming>(state_).opened;
  fall_back(opened ? StreamingOutcome::Kind::unsupported : StreamingOutcome::Kind::failed,
            "the server did not finish its streamed list in time", std::nullopt);
  return {.change = {}, .ends_watch = true};
}

WatchVerdict Reflector::on_suspicion(TimePoint now) {
  const auto* watching = std::get_if<Watching>(&state_);
  if (watching == nullptr) return {};
  if (now - std::max(watching->heard, watching->began) < options_.suspicious_silence) return {};
  end_watch(ReflectorFailure{.kind = Kind::silent,
                             .message = "the watch is silent, and the server has newer objects",
                             .status = {}},
            false, now);
  return {.change = {}, .ends_watch = true};
}

void Reflector::on_watch_ended(const std::optional<ReflectorFailure>& failure, TimePoint now) {
  end_watch(failure, false, now);
}

void Reflector::end_watch(const std::optional<ReflectorFailure>& failure, bool in_stream, TimePoint now) {
  if (std::holds_alternative<CatchingUp>(state_)) return on_catching_up_ended(failure, now);
  const auto* streaming = std::get_if<Streaming>(&state_);
  const auto* watching = std::get_if<Watching>(&state_);
  if (streaming == nullptr && watching == nullptr) return;
  const Kind kind = failure ? failure->kind : Kind::broken;
  if (kind == Kind::undecodable) ++counters_.undecodable;
  // The server is overloaded or unreachable: a list by every client would make it worse.
  if (kind == Kind::unreachable || (kind == Kind::refused && is_throttled(failure->status))) {
    fails(text_of(*failure), failure, true);
    const Duration pause = back_off(now, failure->status.retry_after);
    if (streaming != nullptr) {
      outcome_ = StreamingOutcome{StreamingOutcome::Kind::failed, last_error_};
      state_ = Starting{pause};
    } else {
      state_ = Resuming{pause};
    }
    return;
  }
  const TimePoint began = streaming != nullptr ? streaming->began : watching->began;
  short_watches_ = now - began < options_.short_watch ? short_watches_ + 1 : 0;
  if (streaming != nullptr) return on_streaming_ended(failure, in_stream, now);
  on_watching_ended(Watching(*watching), failure, now);
}

void Reflector::on_streaming_ended(const std::optional<ReflectorFailure>& failure, bool in_stream,
                                   TimePoint now) {
  using Outcome = StreamingOutcome::Kind;
  if (!failure) return fall_back(Outcome::unsupported, "the server ended its streamed list early", failure);
  if (is_expired(*failure) || is_too_large(failure->status)) {
    ++counters_.expired;
    // The server streams lists, but has not this version of the state: request the newest one, once.
    if (!std::exchange(version_unavailable_, true)) {
      outcome_ = StreamingOutcome{Outcome::failed, text_of(*failure)};
      fails(text_of(*failure), failure, true);
      return start_cycle(now, failure->status.retry_after);
    }
  }
  const bool rejected = failure->kind == Kind::refused && rejects_streaming(failure->status, in_stream);
  fall_back(rejected ? Outcome::unsupported : Outcome::failed, text_of(*failure), failure);
}

/// Continues with a list, immediately.
void Reflector::fall_back(StreamingOutcome::Kind kind, const std::string& why,
                          const std::optional<ReflectorFailure>& failure) {
  ++counters_.streaming_fallbacks;
  outcome_ = StreamingOutcome{kind, why};
  list_first_ = true;
  state_ = Relisting{};
  fails(why, failure, false);
}

void Reflector::on_watching_ended(const Watching& watching, const std::optional<ReflectorFailure>& failure,
                                  TimePoint now) {
  const Kind kind = failure ? failure->kind : Kind::broken;
  if (kind == Kind::silent) {  // the state is still valid: no list
    fails(failure->message, failure, true);
    state_ = Resuming{back_off(now, {})};
    return;
  }
  if (kind == Kind::refused || kind == Kind::undecodable) {
    if (is_expired(*failure)) ++counters_.expired;
    fails(text_of(*failure), failure, true);
    return start_cycle(now, failure->status.retry_after);  // also after 410: first at the last version
  }
  const std::string cause = failure && !failure->message.empty() ? ": " + failure->message : "";
  if (now - watching.began < options_.short_watch && resource_version_ == watching.from) {
    fails("the watch ended immediately, without an event" + cause, failure, true);
    return start_cycle(now);
  }
  state_ = Resuming{};
  if (short_watches_ <= options_.short_watches) return;  // at once
  fails("the server ends each watch immediately" + cause, failure, true);
  state_ = Resuming{back_off(now, {})};
}

// ---- Failures

void Reflector::fails(std::string why, const std::optional<ReflectorFailure>& failure, bool watching) {
  last_error_ = std::move(why);
  problem_ = failure ? problem_of(*failure) : WatchProblem::other;
  watch_failed_ = watching;
}

void Reflector::works() noexcept {
  if (growth_failed_) return;
  last_error_.clear();
  problem_ = WatchProblem::none;
  watch_failed_ = false;
}

void Reflector::start_cycle(TimePoint now, std::optional<Duration> retry_after) {
  state_ = Starting{back_off(now, retry_after)};
}

Duration Reflector::back_off(TimePoint now, std::optional<Duration> retry_after) {
  ++counters_.failures;
  if (last_backoff_ != TimePoint::min() && now - last_backoff_ > options_.backoff_reset)
    backoff_ = options_.backoff_base;
  last_backoff_ = now;
  const Duration wait =
      problem_ == WatchProblem::no_such_kind ? std::min(backoff_, options_.missing_max) : backoff_;
  auto delay = wait + Duration(static_cast<Duration::rep>(static_cast<double>(wait.count()) * random()));
  if (retry_after) delay = std::max(delay, std::min(*retry_after, options_.retry_after_max));
  backoff_ = backoff_ > options_.backoff_max / 2 ? options_.backoff_max : backoff_ * 2;
  return delay;
}

}  // namespace v0
}  // namespace evenkeel
