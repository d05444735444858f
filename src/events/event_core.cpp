// SPDX-License-Identifier: Apache-2.0
#include "events/event_core.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "base/earlier.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::string hexadecimal(std::int64_t number) {
  std::array<char, 20> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number, 16);
  return {text.data(), end.ptr};
}

}  // namespace

EventCore::EventCore(EventCoreOptions options)
    : options_(std::move(options)),
      similar_(options_.limits),
      filter_(options_.limits),
      events_(options_.limits.remembered) {}

// Names of client-go: that of the object and the time in nanoseconds, here never the same twice.
std::string EventCore::name_for(const EventRecord& record, WallTime wall) {
  const std::int64_t stamp =
      std::chrono::duration_cast<std::chrono::nanoseconds>(wall.time_since_epoch()).count();
  last_stamp_ = std::max(stamp, last_stamp_ + 1);
  return name_of_event(record.subject.name, "." + hexadecimal(last_stamp_));
}

// Returns the Event that this one repeats, or a new one.
EventCore::Shared EventCore::counted(const std::string& key, EventRecord& record, WallTime wall) {
  Shared& slot = events_.at(key, [this](const Shared& forgotten) {
    if (!write_number(forgotten)) ++totals_.dropped;
  });
  if (!slot) {
    slot = std::make_shared<CountedEvent>();
    slot->name = name_for(record, wall);
    slot->first = wall;
    slot->record = std::move(record);
  } else if (options_.api == EventApi::core_v1) {
    slot->record.message = std::move(record.message);  // a series keeps its first one
  }
  return slot;
}

bool EventCore::on_event(EventRecord record, TimePoint now, WallTime wall) {
  ++totals_.recorded;
  const bool series = options_.api == EventApi::events_v1;
  const std::string object = series ? std::string() : object_key(record);
  const std::string key = series ? series_key(record) : similar_.correlate(record, now);
  const Shared event = counted(key, record, wall);
  ++event->count;
  event->last = wall;
  event->last_at = now;
  if (!series) {
    if (filter_.admits(object, now)) return enqueue(event);
    ++totals_.filtered;
    return true;
  }
  if (!scan_at_) scan_at_ = deadline_after(now, options_.limits.series_end);
  if (!refresh_at_) refresh_at_ = deadline_after(now, options_.limits.series_refresh);
  const bool begun = event->written > 0 || event->given_up > 0 || event == current_;
  if (event->count > 2 && begun) return true;  // written with the series
  return enqueue(event);
}

bool EventCore::enqueue(const Shared& event) {
  if (event->queued) return true;
  if (queue_.size() + (current_ ? 1 : 0) >= options_.limits.queue) {
    ++totals_.dropped;
    return false;
  }
  event->queued = true;
  queue_.push_back(event);
  return true;
}

// New Events come before the numbers of series.
bool EventCore::take_next() {
  if (queue_.empty() && numbers_.empty() && flushing_) flush();
  std::deque<Shared>& next = queue_.empty() ? numbers_ : queue_;
  if (next.empty()) return false;
  current_ = std::move(next.front());
  (queue_.empty() ? current_->number_queued : current_->queued) = false;
  next.pop_front();
  return true;
}

std::optional<EventWrite> EventCore::next_write(TimePoint now) {
  if (writing_ || (retry_at_ && now < *retry_at_)) return std::nullopt;
  retry_at_.reset();
  while (!current_ && take_next()) {
    tries_ = collisions_ = 0;
    if (!is_worth_writing(*current_)) current_.reset();
  }
  if (!current_) return std::nullopt;
  writing_ = true;
  sent_count_ = current_->count;
  return EventWrite{.event = std::make_shared<const CountedEvent>(*current_),
                    .create = current_->written == 0};
}

void EventCore::on_written(WriteEnd end, TimePoint now) {
  if (!writing_) return;
  writing_ = false;
  const bool created = current_->written == 0;
  if (end == WriteEnd::not_found && !created) {
    current_->written = 0;  // the next write creates it
    return;
  }
  if (end == WriteEnd::already_exists && created && tries_ > 0) return find_own();
  switch (end) {
    case WriteEnd::done:
      ++totals_.written;
      current_->written = sent_count_;
      current_.reset();
      return;
    case WriteEnd::already_exists:
      if (++collisions_ >= options_.limits.tries) return give_up();
      current_->name = name_for(current_->record, current_->first);
      return;
    case WriteEnd::failed:
      return retry(now);
    case WriteEnd::not_found:
    case WriteEnd::rejected:
      return give_up();
  }
}

// After a failed try, the object of this name is one that was sent, and its answer was lost. It may have the
// number of the first try, so a patch follows if that has grown.
void EventCore::find_own() {
  ++totals_.written;
  current_->written = first_sent_;
  tries_ = 0;
  if (first_sent_ == sent_count_) current_.reset();
}

void EventCore::retry(TimePoint now) {
  if (tries_ == 0) first_sent_ = sent_count_;
  if (++tries_ >= options_.limits.tries) return give_up();
  Duration delay = options_.limits.retry_delay;
  if (tries_ == 1) {
    delay = std::chrono::duration_cast<Duration>(std::chrono::duration<double>(delay) * options_.random());
  }
  retry_at_ = deadline_after(now, delay);
}

// The number is known further, and written with the next repetition or the series.
void EventCore::give_up() {
  ++totals_.failed;
  current_->given_up = current_->count;
  current_->queued = false;
  std::erase(queue_, current_);
  current_.reset();
}

bool EventCore::is_worth_writing(const CountedEvent& event) const {
  return event.count != event.written && event.count != event.given_up;
}

// Queues the number of a series that was not written; returns false if there is no place. core/v1 has none:
// what its filter kept back stays so.
bool EventCore::write_number(const Shared& event) {
  if (options_.api == EventApi::core_v1 || !is_worth_writing(*event)) return true;
  // The write that goes on, or the next try, may have the number already.
  if (event == current_ && (!writing_ || event->count == sent_count_)) return true;
  if (event->queued || event->number_queued) return true;
  if (numbers_.size() >= options_.limits.remembered) return false;
  event->number_queued = true;
  numbers_.push_back(event);
  return true;
}

// A series whose number has no place stays until the next scan.
void EventCore::end_series(TimePoint now) {
  events_.erase_if([&](const Shared& event) {
    return now - event->last_at >= options_.limits.series_end && write_number(event);
  });
}

void EventCore::on_timeout(TimePoint now) {
  if (scan_at_ && now >= *scan_at_) {
    end_series(now);
    scan_at_ = deadline_after(now, options_.limits.series_end);
    if (events_.size() == 0) {
      scan_at_.reset();
      refresh_at_.reset();
    }
  }
  if (refresh_at_ && now >= *refresh_at_) {
    flush();
    refresh_at_ = deadline_after(now, options_.limits.series_refresh);
  }
}

void EventCore::flush() {
  flushing_ = false;
  events_.for_each([this](const Shared& event) { flushing_ = !write_number(event) || flushing_; });
}

std::optional<TimePoint> EventCore::next_write_due(TimePoint now) const {
  if (writing_ || idle()) return std::nullopt;
  return retry_at_ ? *retry_at_ : now;
}

std::optional<TimePoint> EventCore::next_due(TimePoint now) const {
  return earlier(next_write_due(now), earlier(scan_at_, refresh_at_));
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
