// SPDX-License-Identifier: Apache-2.0
// Tracing with the nouns of OpenTelemetry: a tracer starts spans, an exporter receives those that have ended.
// Client, controllers, caches and elections start spans if the client has a tracer; docs/tracing.md lists
// them.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>

namespace evenkeel {
inline namespace v0 {

/// Identifies a trace; all zero: none.
using TraceId = std::array<std::uint8_t, 16>;
/// Identifies a span within its trace; all zero: none.
using SpanId = std::array<std::uint8_t, 8>;

/// Identity of a span, which its children and links name. Regular.
struct SpanContext {
  TraceId trace_id = {};
  SpanId span_id = {};
  bool sampled = false;

  bool is_valid() const noexcept { return trace_id != TraceId{} && span_id != SpanId{}; }
  bool operator==(const SpanContext&) const = default;

  /// Returns the value of the header traceparent: "00-<trace id>-<span id>-01". Empty if it is not valid.
  EVENKEEL_API std::string traceparent() const;
  /// Parses such a value, of any version; returns std::nullopt if it is malformed.
  /// Source: W3C Trace Context, section 3.2.
  EVENKEEL_API static std::optional<SpanContext> parse(std::string_view traceparent);
};

/// Returns lower-case hexadecimal text.
EVENKEEL_API std::string to_hex(const TraceId& id);
EVENKEEL_API std::string to_hex(const SpanId& id);

enum class SpanKind : std::uint8_t { internal, server, client, producer, consumer };
enum class SpanStatus : std::uint8_t { unset, ok, error };

/// The value of one attribute.
using SpanValue = std::variant<std::string, std::int64_t, double, bool>;

struct SpanAttribute {
  std::string name = {};
  SpanValue value = {};
};

/// A span that is related to another one, but is not its parent.
struct SpanLink {
  SpanContext context = {};
  std::vector<SpanAttribute> attributes = {};
};

/// A span that has ended.
struct SpanRecord {
  std::string name = {};
  SpanKind kind = SpanKind::internal;
  SpanContext context = {};
  SpanId parent = {};  ///< All zero: the span is the root of its trace.
  WallTime start = {};
  WallTime end = {};  ///< `start` and the steady time that passed.
  std::vector<SpanAttribute> attributes = {};
  std::vector<SpanLink> links = {};
  SpanStatus status = SpanStatus::unset;
  std::string status_message = {};  ///< With SpanStatus::error.
};

/// Destination of spans.
/// Thread safety: on_end() is called concurrently, on the threads that end spans; it must neither block nor
/// throw.
class EVENKEEL_API SpanExporter {
 public:
  virtual ~SpanExporter() = default;
  virtual void on_end(SpanRecord span) noexcept = 0;
};

struct TracerOptions {
  /// Share of the traces that are recorded, from 0 to 1. A span with a parent is recorded if the parent is.
  double ratio = 1;
  std::shared_ptr<const Clock> clock = real_clock();
  std::optional<std::uint64_t> seed = {};  ///< Seed of the ids; unset: different in each program.
};

class Tracer;

/// Parts of a span that are known at its start.
struct SpanOptions {
  SpanKind kind = SpanKind::internal;
  SpanContext parent = {};  ///< Not valid: the span begins a trace.
  std::vector<SpanLink> links = {};
  std::optional<TimePoint> start = {};  ///< Unset: now.
};

/// An operation in progress, which ends with end() or with its destructor. A span that is not recorded
/// ignores its attributes and status. A default-constructed span is not recorded and has no context. Thread
/// safety: one thread at a time.
class EVENKEEL_API Span {
 public:
  Span() noexcept = default;
  ~Span() { end(); }
  Span(Span&& other) noexcept = default;
  Span& operator=(Span&& other) noexcept;

  /// Returns true if attributes and status are kept; computing them may be left out otherwise.
  bool is_recording() const noexcept { return record_ != nullptr; }
  const SpanContext& context() const noexcept { return context_; }
  /// Adds an attribute; the last one of a name counts.
  void set_attribute(std::string_view name, SpanValue value);
  void add_link(SpanLink link);
  /// Sets the status; `message` describes an error.
  void set_status(SpanStatus status, std::string message = {});
  /// Ends the span and passes it to the exporter. Idempotent.
  void end() noexcept;

 private:
  friend class Tracer;
  struct Recording {
    SpanRecord span;
    std::shared_ptr<SpanExporter> exporter;
    std::shared_ptr<const Clock> clock;
    TimePoint begun;
  };

  SpanContext context_;
  std::unique_ptr<Recording> record_;  // null: not recorded
};

/// Starts spans.
/// Thread safety: all members may be called concurrently.
class EVENKEEL_API Tracer {
 public:
  /// Throws std::invalid_argument if `exporter` is null, or the ratio is not a number from 0 to 1.
  explicit Tracer(std::shared_ptr<SpanExporter> exporter, TracerOptions options = {});

  /// Starts a span. `name` is of low cardinality: "reconcile website", not the name of an object.
  /// Complexity: one allocation if the span is recorded.
  Span start(std::string_view name, SpanOptions options = {});

 private:
  std::uint64_t random() noexcept;
  bool samples(const TraceId& id) const noexcept;

  const std::shared_ptr<SpanExporter> exporter_;
  const TracerOptions options_;
  std::atomic<std::uint64_t> state_;
};

/// Starts a span if there is a tracer; otherwise returns one that is not recorded.
inline Span start_span(const std::shared_ptr<Tracer>& tracer, std::string_view name,
                       SpanOptions options = {}) {
  return tracer ? tracer->start(name, std::move(options)) : Span();
}

}  // namespace v0
}  // namespace evenkeel
