// SPDX-License-Identifier: Apache-2.0
// Batches of spans: when the next one is sent, when again, and what is dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/tracing/otlp_exporter.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Outcome of one request.
struct ExportOutcome {
  enum class Kind : std::uint8_t { taken, retry, refused };
  Kind kind = Kind::taken;
  std::size_t rejected = 0;                  ///< Spans of a batch that was taken which the collector dropped.
  std::optional<Duration> retry_after = {};  ///< From the answer.
};

/// Driver:
///  1. calls on_span() for each span that has ended, and on_flush() if spans must not wait;
///  2. calls next_batch() at next_due() and after each call of on_span(), on_flush() and on_outcome(), and
///     sends the batch that it returns, which stays valid until on_outcome();
///  3. reports the outcome of each batch with on_outcome().
class ExportCore {
 public:
  explicit ExportCore(const OtlpOptions& options);

  void on_span(SpanRecord span, TimePoint now);
  void on_flush(TimePoint now);
  /// Returns the batch to send now; null if there is none, or one is being sent.
  const std::vector<SpanRecord>* next_batch(TimePoint now);
  void on_outcome(const ExportOutcome& outcome, TimePoint now);
  /// Returns the time at which next_batch() may return one; max() if none is expected.
  TimePoint next_due() const;

  const OtlpCounts& counts() const { return counts_; }
  /// Returns true if no span waits or is being sent.
  bool is_empty() const { return queue_.empty() && batch_.empty(); }

 private:
  bool wants_batch(TimePoint now) const;

  const std::size_t max_queue_;
  const std::size_t max_batch_;
  const Duration schedule_delay_;
  const Duration first_retry_;
  const Duration max_retry_;
  const Duration give_up_after_;
  struct Waiting {
    SpanRecord span;
    TimePoint since;
  };
  std::deque<Waiting> queue_;
  std::size_t to_flush_ = 0;  // spans at the front that do not wait for a full batch
  std::vector<SpanRecord> batch_;
  bool sending_ = false;
  TimePoint batch_begun_{};
  TimePoint retry_at_{};
  Duration retry_delay_{};
  OtlpCounts counts_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
