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

/// The server has not seen the asked resourceVersion yet. Old servers say it in words only.
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
    // A continue token carries its resourceVersion; servers refuse both.
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

ReflectorStep Reflector::next(TimePoint now) {
  if (pause_) {
    const PauseRequest pause{*pause_};
    pause_.reset();
    return pause;
  }
  switch (want_) {
    case Want::watch:
      return begin_watch(now);
    case Want::page:
      return ListRequest{{}, continue_token_, options_.page_size};
    case Want::whole_list:
      begin_objects();
      return ListRequest{list_version_, {}, 0};
    case Want::first_state:
      if (options_.streaming_list && !streaming_failed_) return begin_streaming(now);
      break;
    case Want::list:
      break;
  }
  return begin_list();
}

void Reflector::begin_objects() {
  objects_.clear();
  list_bytes_ = 0;
  list_pages_ = 0;
}

void Reflector::item(WireObject object) {
  list_bytes_ += object.bytes();
  objects_.push_back(std::move(object));
}

std::optional<ReflectorFailure> Reflector::list_excess() const {
  std::string limit;
  if (list_bytes_ > options_.max_list_bytes) limit = std::to_string(options_.max_list_bytes) + " bytes";
  if (list_pages_ > options_.max_list_pages) limit = std::to_string(options_.max_list_pages) + " pages";
  if (limit.empty()) return std::nullopt;
  return ReflectorFailure{.kind = Kind::undecodable, .message = "the list is longer than " + limit};
}

ListRequest Reflector::begin_list() {
  ++counters_.lists;
  begin_objects();
  continue_token_.clear();
  streaming_failed_ = false;  // the next cycle may stream again
  want_ = Want::list;
  list_version_ = version_unavailable_ ? "" : resource_version_.empty() ? "0" : resource_version_;
  // "0" is any version that the server has in memory. A limit makes it read its database instead, so
  // only where it does that anyway.
  const bool paged = list_version_.empty() || list_version_ == "0" || pages_at_zero_;
  return {list_version_, {}, paged ? options_.page_size : 0};
}

std::optional<ReflectorChange> Reflector::list_ended(const ListMetadata& metadata) {
  if (!metadata.continue_token.empty()) {
    ++list_pages_;
    if (list_version_ == "0") pages_at_zero_ = true;
    continue_token_ = metadata.continue_token;
    want_ = Want::page;
    return std::nullopt;
  }
  want_ = Want::watch;
  return replacement(metadata.resource_version);
}

ReflectorChange Reflector::replacement(std::string resource_version) {
  resource_version_ = std::move(resource_version);
  version_unavailable_ = false;
  retried_expired_ = false;
  read_whole_ = false;
  if (!watch_failed_) works();
  ReflectorChange change{
      .kind = ReflectorChange::Kind::replace, .objects = std::move(objects_), .first = !synced_};
  objects_.clear();
  synced_ = true;
  return change;
}

void Reflector::list_failed(const ReflectorFailure& failure, TimePoint now) {
  const bool between_pages = want_ == Want::page;
  const bool expired = is_expired(failure);
  objects_.clear();
  fails(text_of(failure), failure, false);
  if (failure.kind == Kind::undecodable) ++counters_.undecodable;
  if (expired || is_too_large(failure.status)) {
    ++counters_.expired;
    // What the token stands for is gone: read all at once instead. Once, because a server may page that, too.
    if (expired && between_pages && !std::exchange(read_whole_, true)) {
      want_ = Want::whole_list;
      return;
    }
    version_unavailable_ = true;
    if (!retried_expired_) {
      retried_expired_ = true;
      want_ = Want::list;
      return;
    }
  }
  relist(now, failure.status.retry_after);
}

WatchRequest Reflector::begin_watch(TimePoint now) {
  ++counters_.watches;
  watch_began_ = now;
  watch_from_ = resource_version_;
  streaming_ = false;
  unordered_ = resource_version_.empty() || resource_version_ == "0";
  return {.resource_version = resource_version_, .timeout = watch_life()};
}

WatchRequest Reflector::begin_streaming(TimePoint now) {
  ++counters_.watches;
  begin_objects();
  watch_began_ = now;
  watch_from_ = version_unavailable_ ? "" : resource_version_;
  streaming_ = true;
  unordered_ = false;
  return {.resource_version = watch_from_,
          .timeout = watch_life(),
          .initial_events = true,
          .initial_deadline = options_.streaming_deadline};
}

std::chrono::seconds Reflector::watch_life() {
  const auto shortest = static_cast<double>(options_.watch_timeout.count());
  return std::chrono::seconds(static_cast<std::int64_t>(shortest * (1.0 + random())));
}

WatchVerdict Reflector::event(const WireEvent& event, TimePoint now) {
  if (event.type == WatchType::error) {
    watch_ended(ReflectorFailure{.kind = Kind::refused, .message = {}, .status = event.error}, now);
    return {.change = {}, .ends_watch = true};
  }
  ++counters_.events;
  if (streaming_) return initial_event(event, now);
  works();
  if (event.type != WatchType::added) unordered_ = false;
  // Synthetic ADDED events describe what exists, in no order: resuming from one would lose
  // the others.
  if (!unordered_) advance_to(event.object.resource_version());
  if (event.type == WatchType::bookmark) return {};
  const bool gone = event.type == WatchType::deleted;
  return {.change =
              ReflectorChange{.kind = gone ? ReflectorChange::Kind::remove : ReflectorChange::Kind::apply,
                              .object = event.object}};
}

/// Until the bookmark that ends the first state, events are items of a list.
WatchVerdict Reflector::initial_event(const WireEvent& event, TimePoint) {
  if (event.type == WatchType::bookmark) {
    if (event.object.annotation("k8s.io/initial-events-end") != "true") return {};
    streaming_ = false;
    want_ = Want::watch;
    works();
    return {.change = replacement(std::string(event.object.resource_version()))};
  }
  if (event.type == WatchType::deleted) {
    const auto same = [&event](const WireObject& object) {
      return object.name() == event.object.name() && object.namespace_() == event.object.namespace_();
    };
    std::erase_if(objects_, same);
  } else {
    item(event.object);  // of one object seen twice, the later state counts
  }
  return {};
}

void Reflector::advance_to(std::string_view version) {
  if (version.empty()) return;
  const auto order = compare_resource_versions(version, resource_version_);
  if (!order || *order == std::strong_ordering::greater) resource_version_ = version;
}

void Reflector::event_undecodable(const std::string& message, TimePoint now) {
  watch_ended(ReflectorFailure{.kind = Kind::undecodable, .message = message}, now);
}

void Reflector::streaming_timed_out(TimePoint) {
  streaming_ = false;
  streaming_failed_ = true;
  want_ = Want::list;
  fails("the server did not finish its streamed list in time", std::nullopt, false);
}

void Reflector::watch_ended(const std::optional<ReflectorFailure>& failure, TimePoint now) {
  const Kind kind = failure ? failure->kind : Kind::broken;
  const std::optional<Duration> retry_after = failure ? failure->status.retry_after : std::nullopt;
  if (kind == Kind::undecodable) ++counters_.undecodable;
  // The server has too much to do, or none is there: a list by every client would make it worse.
  if (kind == Kind::unreachable || (kind == Kind::refused && is_throttled(failure->status))) {
    fails(text_of(*failure), failure, true);
    return back_off(now, retry_after);
  }
  short_watches_ = now - watch_began_ < options_.short_watch ? short_watches_ + 1 : 0;
  if (kind == Kind::silent && !streaming_) {  // what was seen is still good: no list
    fails(failure->message, failure, true);
    want_ = Want::watch;
    return back_off(now, {});
  }
  if (streaming_) {  // whatever it was: this time with a list
    streaming_ = false;
    streaming_failed_ = true;
    want_ = Want::list;
    fails(failure ? text_of(*failure) : "the server ended its streamed list early", failure, false);
    return;
  }
  if (kind == Kind::refused || kind == Kind::undecodable) {
    if (is_expired(*failure)) ++counters_.expired;
    fails(text_of(*failure), failure, true);
    return relist(now, retry_after);  // also after 410: first at the last version
  }
  if (now - watch_began_ < options_.short_watch && resource_version_ == watch_from_) {
    std::string why = "the watch ended at once and told nothing";
    if (failure && !failure->message.empty()) why += ": " + failure->message;
    fails(std::move(why), failure, true);
    return relist(now);
  }
  want_ = Want::watch;
  if (short_watches_ <= options_.short_watches) return;  // at once
  std::string why = "the server ends each watch at once";
  if (failure && !failure->message.empty()) why += ": " + failure->message;
  fails(std::move(why), failure, true);
  back_off(now, {});
}

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

void Reflector::relist(TimePoint now, std::optional<Duration> retry_after) {
  want_ = Want::first_state;
  retried_expired_ = false;
  read_whole_ = false;
  back_off(now, retry_after);
}

void Reflector::back_off(TimePoint now, std::optional<Duration> retry_after) {
  ++counters_.failures;
  if (last_backoff_ != TimePoint::min() && now - last_backoff_ > options_.backoff_reset)
    backoff_ = options_.backoff_base;
  last_backoff_ = now;
  const Duration wait =
      problem_ == WatchProblem::no_such_kind ? std::min(backoff_, options_.missing_max) : backoff_;
  auto delay = wait + Duration(static_cast<Duration::rep>(static_cast<double>(wait.count()) * random()));
  if (retry_after) delay = std::max(delay, std::min(*retry_after, options_.retry_after_max));
  backoff_ = backoff_ > options_.backoff_max / 2 ? options_.backoff_max : backoff_ * 2;
  pause_ = delay;
}

}  // namespace v0
}  // namespace evenkeel
