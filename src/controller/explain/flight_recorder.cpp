// SPDX-License-Identifier: Apache-2.0
#include "controller/explain/flight_recorder.hpp"

#include <algorithm>

#include "base/cut_text.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

// Memory of a text and of a failure in addition to the characters: the objects, and the blocks of their
// containers.
constexpr std::size_t text_overhead = sizeof(std::string) + 16;
constexpr std::size_t failure_overhead = sizeof(LastFailure) + 96;

std::size_t raised(std::size_t budget) {
  return budget == 0 ? 0 : std::max(budget, FlightRecorder::min_budget);
}

// Updates the run's cause from `record`, which precedes the run: the cause is the first record that requested
// the key after the previous run had begun; a wait that was not over did not request it.
void learn_cause(FlightRun& run, const FlightRecord& record) {
  if (record.key != run.key || record.time() > run.since) return;
  if (record.kind == FlightKind::started) {
    if (record.run() != run.id) run.cause = {};
  } else if (run.cause.by != AddedBy::nobody) {
    return;
  } else if (record.kind == FlightKind::event && record.fate() == EventFate::added) {
    run.cause = record.cause();
  } else if (record.kind == FlightKind::waits && deadline_after(record.time(), record.delay()) <= run.since) {
    run.cause.by = record.reason();
  }
}

}  // namespace

FlightRecorder::FlightRecorder(std::size_t budget)
    : capacity_(raised(budget) / 8 * 5 / sizeof(FlightRecord)),
      text_budget_(raised(budget) / 8),
      max_failures_(raised(budget) / 4 / (failure_overhead + max_text)) {
  if (capacity_ != 0) records_ = std::make_unique_for_overwrite<FlightRecord[]>(capacity_);
}

std::uint16_t FlightRecorder::number_of(std::string_view source) {
  const auto found = std::find(sources_.begin(), sources_.end(), source);
  const auto number = static_cast<std::size_t>(found - sources_.begin());
  if (number == sources_.size() && number <= UINT16_MAX) sources_.emplace_back(source);
  return static_cast<std::uint16_t>(std::min<std::size_t>(number, UINT16_MAX));
}

void FlightRecorder::save_cause(const FlightRecord& overwritten) {
  if (FlightRun* const run = runs_.find(overwritten.key)) learn_cause(*run, overwritten);
}

std::vector<FlightRun> FlightRecorder::runs() const {
  RunTable found = runs_;
  const auto there = static_cast<std::size_t>(recorded_ - lost());
  for (std::size_t back = there; back >= 1 && !found.empty(); --back) {
    const FlightRecord& record = records_[(at_ + capacity_ - back) % capacity_];
    if (FlightRun* const run = found.find(record.key)) learn_cause(*run, record);
  }
  return std::move(found.all());
}

std::vector<FlightRecord> FlightRecorder::of(std::uint64_t key, std::size_t most) const {
  std::vector<FlightRecord> found;
  const std::uint64_t there = recorded_ - lost();
  for (std::uint64_t back = 1; back <= there && found.size() < most; ++back) {
    const FlightRecord& record = records_[(at_ + capacity_ - back) % capacity_];
    if (record.key != key) continue;
    if (record.kind == FlightKind::renewed) break;
    found.push_back(record);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::optional<std::string_view> FlightRecorder::text(const FlightRecord& record) const {
  if (record.kind != FlightKind::ended || record.text() == 0) return std::string_view();
  const std::uint32_t age = newest_text_ - record.text();
  if (age >= texts_.size()) return std::nullopt;
  return texts_[texts_.size() - 1 - age];
}

const LastFailure* FlightRecorder::failure(std::uint64_t key) const {
  const auto found = failures_.find(key);
  return found == failures_.end() ? nullptr : &*found->second;
}

std::optional<TimePoint> FlightRecorder::since() const {
  if (recorded_ == 0) return std::nullopt;
  return records_[recorded_ > capacity_ ? at_ : 0].time();
}

std::size_t FlightRecorder::bytes() const {
  const auto records = static_cast<std::size_t>(std::min<std::uint64_t>(recorded_, capacity_));
  std::size_t total = records * sizeof(FlightRecord) + text_bytes_;
  for (const LastFailure& failure : by_age_) total += failure_overhead + failure.text.capacity();
  return total;
}

// Consecutive runs that end alike share a text.
std::uint32_t FlightRecorder::keep(std::string_view text) {
  text = cut_view(text, max_text);
  if (!texts_.empty() && texts_.back() == text) return newest_text_;
  const std::size_t size = text.size() + text_overhead;
  while (!texts_.empty() && text_bytes_ + size > text_budget_) {
    text_bytes_ -= texts_.front().size() + text_overhead;
    texts_.pop_front();
  }
  texts_.emplace_back(text);
  text_bytes_ += size;
  if (++newest_text_ == 0) {  // 0 means no text: texts with older numbers are dropped
    newest_text_ = 1;
    text_bytes_ = size;
    texts_.erase(texts_.begin(), texts_.end() - 1);
  }
  return newest_text_;
}

void FlightRecorder::remember(TimePoint at, const RequestKey& key, std::uint64_t attempt,
                              const ReconcileOutcome& outcome) {
  const std::uint64_t hash = key.hash();
  if (const auto found = failures_.find(hash); found != failures_.end()) {
    by_age_.splice(by_age_.begin(), by_age_, found->second);
  } else {
    if (failures_.size() >= std::max<std::size_t>(max_failures_, 1)) forget(by_age_.back().key.hash());
    by_age_.emplace_front();
    failures_.emplace(hash, by_age_.begin());
  }
  LastFailure& failure = by_age_.front();
  failure.key = key;
  failure.at = at;
  failure.kind = outcome.kind;
  failure.attempt = attempt;
  failure.timed_out = outcome.timed_out;
  failure.text = cut_view(outcome.message, max_text);
}

void FlightRecorder::forget(std::uint64_t key) {
  const auto found = failures_.find(key);
  if (found == failures_.end()) return;
  by_age_.erase(found->second);
  failures_.erase(found);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
