// SPDX-License-Identifier: Apache-2.0
#include "tracing/export_core.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace evenkeel {
inline namespace v0 {
namespace detail {

ExportCore::ExportCore(const OtlpOptions& options)
    : max_queue_(options.max_queue),
      max_batch_(options.max_batch),
      schedule_delay_(options.schedule_delay),
      first_retry_(options.first_retry),
      max_retry_(options.max_retry),
      give_up_after_(options.give_up_after) {
  if (max_batch_ == 0 || max_batch_ > max_queue_)
    throw std::invalid_argument("OtlpOptions: need 0 < max_batch <= max_queue");
  if (first_retry_ <= Duration::zero() || max_retry_ < first_retry_)
    throw std::invalid_argument("OtlpOptions: need 0 < first_retry <= max_retry");
  if (schedule_delay_ < Duration::zero() || give_up_after_ < Duration::zero())
    throw std::invalid_argument("OtlpOptions: schedule_delay and give_up_after must not be negative");
}

void ExportCore::on_span(SpanRecord span, TimePoint now) {
  if (queue_.size() >= max_queue_) {
    ++counts_.dropped;
  } else {
    queue_.push_back({std::move(span), now});
  }
}

void ExportCore::on_flush(TimePoint now) {
  to_flush_ = queue_.size();
  if (!batch_.empty() && !sending_) retry_at_ = now;
}

bool ExportCore::wants_batch(TimePoint now) const {
  if (queue_.empty()) return false;
  return to_flush_ > 0 || queue_.size() >= max_batch_ ||
         deadline_after(queue_.front().since, schedule_delay_) <= now;
}

const std::vector<SpanRecord>* ExportCore::next_batch(TimePoint now) {
  if (sending_) return nullptr;
  if (batch_.empty()) {
    if (!wants_batch(now)) return nullptr;
    const std::size_t count = std::min(max_batch_, queue_.size());
    for (std::size_t i = 0; i < count; ++i) {
      batch_.push_back(std::move(queue_.front().span));
      queue_.pop_front();
    }
    to_flush_ -= std::min(to_flush_, count);
    batch_begun_ = now;
    retry_delay_ = first_retry_;
  } else if (now < retry_at_) {
    return nullptr;
  }
  sending_ = true;
  return &batch_;
}

void ExportCore::on_outcome(const ExportOutcome& outcome, TimePoint now) {
  sending_ = false;
  if (outcome.kind == ExportOutcome::Kind::retry) {
    const Duration delay = std::max(retry_delay_, outcome.retry_after.value_or(Duration::zero()));
    if (deadline_after(now, delay) <= deadline_after(batch_begun_, give_up_after_)) {
      retry_at_ = deadline_after(now, delay);
      retry_delay_ = std::min(2 * retry_delay_, max_retry_);
      return;
    }
  }
  const bool taken = outcome.kind == ExportOutcome::Kind::taken;
  const std::size_t lost = taken ? std::min(outcome.rejected, batch_.size()) : batch_.size();
  counts_.dropped += lost;
  counts_.exported += batch_.size() - lost;
  batch_.clear();
}

TimePoint ExportCore::next_due() const {
  if (sending_) return TimePoint::max();
  if (!batch_.empty()) return retry_at_;
  if (queue_.empty()) return TimePoint::max();
  if (to_flush_ > 0 || queue_.size() >= max_batch_) return queue_.front().since;
  return deadline_after(queue_.front().since, schedule_delay_);
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
