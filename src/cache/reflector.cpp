// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/cache/reflector.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

using Kind = ReflectorFailure::Kind;

bool is_expired(const ReflectorFailure& failure) {
  if (failure.kind != Kind::refused) return false;
  return failure.status.code == 410 || failure.status.reason == "Expired" || failure.status.reason == "Gone";
}

/// Returns true if the server has not seen the requested resourceVersion yet. Old servers report this only in
/// the message.
bool is_too_large(const Status& status) {
  for (const StatusCause& cause : status.causes) {
    if (cause.reason == "ResourceVersionTooLarge") return true;
  }
  return status.message.find("Too large resource version") != std::string::npos;
}

bool is_throttled(const Status& status) {
  return status.code == 429 || status.reason == "TooManyRequests";
}

std::string text_of(const ReflectorFailure& failure) {
  if (!failure.message.empty() || failure.kind != Kind::refused) return failure.message;
  return failure.status.message.empty() ? failure.status.reason : failure.status.message;
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
  }
  return query;
}

Reflector::Reflector(ReflectorOptions options)
    : options_(std::move(options)), backoff_(options_.backoff_base) {
  if (options_.page_size == 0) throw std::invalid_argument("Reflector: page_size must be > 0");
  if (options_.watch_timeout < std::chrono::seconds{1})
    throw std::invalid_argument("Reflector: watch_timeout must be at least 1 s");
  if (options_.backoff_base <= Duration::zero() || options_.backoff_max < options_.backoff_base)
    throw std::invalid_argument("Reflector: need 0 < backoff_base <= backoff_max");
}

ReflectorStep Reflector::next_step(TimePoint now) {
  if (const auto pause = take_pause()) return PauseRequest{*pause};
  if (auto* listing = std::get_if<Listing>(&state_)) {
    if (listing->restarts || !listing->continue_token.empty()) return continue_list(*listing);
  }
  if (std::holds_alternative<Resuming>(state_) || std::holds_alternative<Watching>(state_))
    return begin_watch(now);
  const bool cycle_begins =
      std::holds_alternative<Starting>(state_) || std::holds_alternative<Streaming>(state_);
  if (cycle_begins && options_.streaming_list) return begin_streaming(now);
  return begin_list();
}

std::optional<Duration> Reflector::take_pause() {
  if (auto* starting = std::get_if<Starting>(&state_)) return std::exchange(starting->pause, std::nullopt);
  if (auto* resuming = std::get_if<Resuming>(&state_)) return std::exchange(resuming->pause, std::nullopt);
  return std::nullopt;
}

// ---- Lists

ListRequest Reflector::begin_list() {
  ++counters_.lists;
  Listing listing{.version = version_unavailable_ ? "" : resource_version_.empty() ? "0" : resource_version_};
  if (const auto* relisting = std::get_if<Relisting>(&state_)) listing.used = relisting->used;
  if (const auto* begun = std::get_if<Listing>(&state_)) listing.used = begun->used;
  // "0" means any version in the server's memory. A limit makes the server read its database instead, so it
  // is used only if the server does that anyway.
  const bool paged = listing.version.empty() || listing.version == "0" || pages_at_zero_;
  const ListRequest request{listing.version, {}, paged ? options_.page_size : 0};
  state_ = std::move(listing);
  return request;
}

ListRequest Reflector::continue_list(Listing& listing) {
  if (!listing.restarts) return {{}, listing.continue_token, options_.page_size};
  listing.collected = {};
  return {listing.version, {}, 0};
}

const Reflector::Collected* Reflector::collected() const {
  if (const auto* listing = std::get_if<Listing>(&state_)) return &listing->collected;
  if (const auto* streaming = std::get_if<Streaming>(&state_)) return &streaming->collected;
  return nullptr;
}

void Reflector::collect(Collected& collected, WireObject object) {
  collected.bytes += object.bytes();
  collected.objects.push_back(std::move(object));
}

void Reflector::on_item(WireObject object) {
  if (auto* listing = std::get_if<Listing>(&state_)) collect(listing->collected, std::move(object));
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
  auto* listing = std::get_if<Listing>(&state_);
  if (listing == nullptr) return std::nullopt;
  if (!metadata.continue_token.empty()) {
    ++listing->collected.pages;
    if (listing->version == "0") pages_at_zero_ = true;
    listing->continue_token = metadata.continue_token;
    listing->restarts = false;
    return std::nullopt;
  }
  std::vector<WireObject> objects = std::move(listing->collected.objects);
  state_ = Resuming{};
  return replacement(metadata.resource_version, std::move(objects));
}

ReflectorChange Reflector::replacement(std::string resource_version, std::vector<WireObject> objects) {
  resource_version_ = std::move(resource_version);
  version_unavailable_ = false;
  if (!watch_failed_) works();
  return {.kind = ReflectorChange::Kind::replace,
          .objects = std::move(objects),
          .first = !std::exchange(synced_, true)};
}

void Reflector::on_list_failed(const ReflectorFailure& failure, TimePoint now) {
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
      state_ = Relisting{listing->used};
      return;
    }
  }
  start_cycle(now, failure.status.retry_after);
}

// ---- Watches

WatchRequest Reflector::begin_watch(TimePoint now) {
  ++counters_.watches;
  state_ = Watching{.began = now,
                    .from = resource_version_,
                    .unordered = resource_version_.empty() || resource_version_ == "0"};
  return {.resource_version = resource_version_, .timeout = watch_life()};
}

WatchRequest Reflector::begin_streaming(TimePoint now) {
  ++counters_.watches;
  const std::string from = version_unavailable_ ? "" : resource_version_;
  state_ = Streaming{.began = now, .from = from};
  return {.resource_version = from, .timeout = watch_life(), .initial_events = true};
}

std::chrono::seconds Reflector::watch_life() {
  const auto shortest = static_cast<double>(options_.watch_timeout.count());
  return std::chrono::seconds(static_cast<std::int64_t>(shortest * (1.0 + random())));
}

WatchVerdict Reflector::on_event(const WireEvent& event, TimePoint now) {
  auto* streaming = std::get_if<Streaming>(&state_);
  auto* watching = std::get_if<Watching>(&state_);
  if (streaming == nullptr && watching == nullptr) return {};
  if (event.type == WatchType::error) {
    on_watch_ended(ReflectorFailure{.kind = Kind::refused, .message = {}, .status = event.error}, now);
    return {.change = {}, .ends_watch = true};
  }
  ++counters_.events;
  if (streaming != nullptr) return on_initial_event(*streaming, event);
  works();
  if (event.type != WatchType::added) watching->unordered = false;
  // Synthetic ADDED events list existing objects without an order: resuming from one would lose the others.
  if (!watching->unordered) advance_to(event.object.resource_version());
  if (event.type == WatchType::bookmark) return {};
  const bool gone = event.type == WatchType::deleted;
  return {.change =
              ReflectorChange{.kind = gone ? ReflectorChange::Kind::remove : ReflectorChange::Kind::apply,
                              .object = event.object}};
}

/// Until the bookmark that ends the first state, events are items of a list.
WatchVerdict Reflector::on_initial_event(Streaming& streaming, const WireEvent& event) {
  if (event.type == WatchType::bookmark) {
    if (event.object.annotation("k8s.io/initial-events-end") != "true") return {};
    std::vector<WireObject> objects = std::move(streaming.collected.objects);
    state_ = Watching{.began = streaming.began, .from = streaming.from};
    works();
    return {.change = replacement(std::string(event.object.resource_version()), std::move(objects))};
  }
  if (event.type == WatchType::deleted) {
    const auto same = [&event](const WireObject& object) {
      return object.name() == event.object.name() && object.namespace_() == event.object.namespace_();
    };
    std::erase_if(streaming.collected.objects, same);
  } else {
    collect(streaming.collected, event.object);  // the later state of a repeated object wins
  }
  return {};
}

void Reflector::advance_to(std::string_view version) {
  if (version.empty()) return;
  const auto order = compare_resource_versions(version, resource_version_);
  if (!order || *order == std::strong_ordering::greater) resource_version_ = version;
}

void Reflector::on_undecodable(const std::string& message, TimePoint now) {
  on_watch_ended(ReflectorFailure{.kind = Kind::undecodable, .message = message}, now);
}

std::optional<TimePoint> Reflector::next_due() const {
  const auto* streaming = std::get_if<Streaming>(&state_);
  if (streaming == nullptr) return std::nullopt;
  return deadline_after(streaming->began, options_.streaming_deadline);
}

bool Reflector::on_timeout(TimePoint now) {
  const auto due = next_due();
  if (!due || now < *due) return false;
  state_ = Relisting{};
  fails("the server did not finish its streamed list in time", std::nullopt, false);
  return true;
}

void Reflector::on_watch_ended(const std::optional<ReflectorFailure>& failure, TimePoint now) {
  const auto* streaming = std::get_if<Streaming>(&state_);
  const auto* watching = std::get_if<Watching>(&state_);
  if (streaming == nullptr && watching == nullptr) return;
  const Kind kind = failure ? failure->kind : Kind::broken;
  if (kind == Kind::undecodable) ++counters_.undecodable;
  // The server is overloaded or unreachable: a list by every client would make it worse.
  if (kind == Kind::unreachable || (kind == Kind::refused && is_throttled(failure->status))) {
    fails(text_of(*failure), failure, true);
    const Duration pause = back_off(now, failure->status.retry_after);
    if (streaming != nullptr)
      state_ = Starting{pause};
    else
      state_ = Resuming{pause};
    return;
  }
  const TimePoint began = streaming != nullptr ? streaming->began : watching->began;
  short_watches_ = now - began < options_.short_watch ? short_watches_ + 1 : 0;
  if (streaming != nullptr) return on_streaming_ended(failure);
  on_watching_ended(Watching(*watching), failure, now);
}

// Every failure of a streamed first state is followed by a list, immediately.
void Reflector::on_streaming_ended(const std::optional<ReflectorFailure>& failure) {
  state_ = Relisting{};
  fails(failure ? text_of(*failure) : "the server ended its streamed list early", failure, false);
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
