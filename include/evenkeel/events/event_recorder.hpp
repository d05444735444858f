// SPDX-License-Identifier: Apache-2.0
// Writes Kubernetes Events in the background. Reconcilers use it through Context::event().
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <evenkeel/api/fields.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/events/event.hpp>

namespace evenkeel {
inline namespace v0 {

class MetricSink;

struct EventRecorderOptions {
  EventApi api = EventApi::events_v1;
  /// Name of the program: a qualified name, such as "demo-operator" or "example.com/demo-operator". By
  /// default that of the manager, or "evenkeel".
  std::string component = {};
  /// Name of the instance, at most 128 bytes. Default: component and host name.
  std::string instance = {};
  EventLimits limits = {};
  /// Time that a manager waits at its end for the Events that are not yet written.
  Duration flush_limit = std::chrono::seconds{5};
  std::size_t threads = 1;  ///< 1, begun with the first Event; 0: pump() does the work.
  /// Called first on the thread, with its name.
  std::function<void(std::string_view thread)> on_thread_start = {};
  /// Without threads: called, on any thread and under no lock, when pump() has to be called, or next_due()
  /// has become earlier. May be called after the recorder's end.
  std::function<void()> on_work = {};
  Log log = {};
  std::shared_ptr<const Clock> clock = real_clock();
  std::optional<std::uint64_t> seed = {};  ///< Seed of the first delay; unset: different in each program.
};

/// Records Events, counts repetitions, and writes them one after the other on a dedicated thread.
///
/// Recording never blocks on the server and never fails because of it: an Event that cannot be written is
/// counted and logged. Writes are retried, except those that the server rejects. Memory is bounded by
/// EventLimits.
/// Thread safety: all members may be called concurrently; pump() by one thread at a time.
/// Lifetime: the destructor cancels the write in progress; see flush(). The client need not outlive it.
class EVENKEEL_API EventRecorder {
 public:
  /// Throws std::invalid_argument for a component that is not a qualified name, and for limits of 0 or less.
  explicit EventRecorder(Client client, EventRecorderOptions options = {});
  ~EventRecorder();
  EventRecorder(const EventRecorder&) = delete;
  EventRecorder& operator=(const EventRecorder&) = delete;

  /// Records an Event about `object`. `reason` is a word such as "FailedCreate" for programs, of which 128
  /// bytes are kept; `message` is for people, of which 1024 are. Throws std::invalid_argument if the reason,
  /// the action, or the kind or name of the object is empty.
  template <ObjectType T>
  void event(const T& object, EventSeverity severity, std::string_view reason, std::string_view message,
             const EventOptions& options = {}) {
    record(event_subject(object), severity, reason, message, options);
  }
  void record(const EventSubject& subject, EventSeverity severity, std::string_view reason,
              std::string_view message, const EventOptions& options = {});

  /// Blocks until all recorded Events and the numbers of all series are written or given up, at most for
  /// `limit`. Returns false, and logs it, if some are left. Without threads, calls
  /// EventRecorderOptions::on_work, returns at once, and logs nothing.
  bool flush(Duration limit);
  const EventRecorderOptions& options() const noexcept;
  /// Passes the metrics to `sink`; docs/metrics.md lists them.
  void collect(MetricSink& sink) const;

  // ---- Without threads ----

  /// Does the work that is due; returns the number of requests that were begun or ended.
  std::size_t pump();
  /// Returns the time of the next work; std::nullopt if there is none.
  std::optional<TimePoint> next_due() const;
  /// Returns the time of the next write that waits, the timers of series not counted.
  std::optional<TimePoint> next_write_due() const;
  /// Returns true if a write waits for its response.
  bool is_writing() const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace v0
}  // namespace evenkeel
