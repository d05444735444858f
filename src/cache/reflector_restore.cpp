// SPDX-License-Identifier: Apache-2.0
// The beginning of a reflector with a copy from before the start.
#include <algorithm>
#include <compare>
#include <utility>

#include <evenkeel/cache/reflector.hpp>

#include "cache/reflector_failures.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

using Kind = ReflectorFailure::Kind;
using detail::reflector::is_expired;
using detail::reflector::is_throttled;
using detail::reflector::text_of;

/// Number of the server's objects by which it is recognized. One of them may be new, or have gone.
constexpr std::size_t few = 5;

}  // namespace

void Reflector::restore(std::string version, std::vector<WireObject> objects) {
  const bool begun = counters_.lists + counters_.watches > 0 || !std::holds_alternative<Starting>(state_);
  if (begun || objects.empty() || !wanted_.is_all()) return;
  Saved saved{.version = std::move(version)};
  for (WireObject& object : objects) collect(saved.collected, std::move(object));
  state_ = Recognizing{std::move(saved)};
}

std::optional<std::string> Reflector::take_restore_failure() {
  return std::exchange(restore_failure_, std::nullopt);
}

ListRequest Reflector::begin_recognizing() {
  ++counters_.lists;
  auto& recognizing = std::get<Recognizing>(state_);
  recognizing.items = 0;
  recognizing.recognized = false;
  return {.resource_version = "", .limit = few};
}

void Reflector::recognize(const WireObject& item) {
  auto& recognizing = std::get<Recognizing>(state_);
  if (++recognizing.items > few) return;  // of a server that ignores the limit
  const std::vector<WireObject>& objects = recognizing.saved.collected.objects;
  recognizing.recognized =
      recognizing.recognized || std::any_of(objects.begin(), objects.end(), [&](const WireObject& object) {
        return !object.uid().empty() && object.uid() == item.uid();
      });
}

std::optional<ReflectorChange> Reflector::on_recognized(const ListMetadata& metadata) {
  auto& recognizing = std::get<Recognizing>(state_);
  const auto order = compare_resource_versions(recognizing.saved.version, metadata.resource_version);
  works();
  if (!recognizing.recognized || !order || *order == std::strong_ordering::greater) {
    drop_saved("the server does not have its objects");
    return std::nullopt;
  }
  CatchingUp next{.saved = std::move(recognizing.saved), .newest = metadata.resource_version};
  state_ = std::move(next);
  if (*order != std::strong_ordering::equal) return std::nullopt;
  ReflectorChange change = caught_up();
  state_ = Resuming{};
  return change;
}

void Reflector::on_recognizing_failed(const ReflectorFailure& failure, TimePoint now) {
  fails(text_of(failure), failure, false);
  if (failure.kind != Kind::unreachable && !is_throttled(failure.status)) return drop_saved(last_error_);
  const Duration pause = back_off(now, failure.status.retry_after);
  std::get<Recognizing>(state_).pause = pause;
}

WatchRequest Reflector::begin_catching_up(CatchingUp& catching_up, TimePoint now) {
  ++counters_.watches;
  catching_up.began = now;
  catching_up.from = catching_up.saved.version;
  catching_up.due.reset();
  return {.resource_version = catching_up.from, .timeout = watch_life()};
}

/// Collects an event between the version of the copy and the present.
WatchVerdict Reflector::on_missed_event(CatchingUp& catching_up, const WireEvent& event, TimePoint now) {
  if (event.type != WatchType::bookmark) collect(catching_up.saved.collected, event);
  if (!event.object.resource_version().empty()) catching_up.saved.version = event.object.resource_version();
  catching_up.due = deadline_after(now, catching_up.settle);
  const auto order = compare_resource_versions(catching_up.saved.version, catching_up.newest);
  if (!order || *order == std::strong_ordering::less) return {};
  return {.change = caught_up()};
}

/// Takes over the copy; its watch goes on.
ReflectorChange Reflector::caught_up() {
  auto& catching_up = std::get<CatchingUp>(state_);
  std::string version = std::move(catching_up.saved.version);
  std::vector<WireObject> objects = take_objects(catching_up.saved.collected);
  Watching watching{
      .began = catching_up.began, .heard = catching_up.began, .from = std::move(catching_up.from)};
  watching.of = HashRanges::all();
  state_ = std::move(watching);
  ++counters_.restores;
  return replacement(std::move(version), std::move(objects), HashRanges::all());
}

void Reflector::on_catching_up_ended(const std::optional<ReflectorFailure>& failure, TimePoint now) {
  const Kind kind = failure ? failure->kind : Kind::broken;
  if (kind == Kind::unreachable || (failure && is_throttled(failure->status))) {
    fails(text_of(*failure), failure, true);
    const Duration pause = back_off(now, failure->status.retry_after);
    std::get<CatchingUp>(state_).pause = pause;
    return;
  }
  if (kind == Kind::undecodable) ++counters_.undecodable;
  if (failure && is_expired(*failure)) {
    ++counters_.expired;
    return drop_saved("the server does not have its version any more");
  }
  drop_saved(failure ? text_of(*failure) : "the watch ended before it had caught up");
}

/// Continues as without a copy, immediately.
void Reflector::drop_saved(std::string why) {
  restore_failure_ = std::move(why);
  state_ = Starting{};
}

}  // namespace v0
}  // namespace evenkeel
