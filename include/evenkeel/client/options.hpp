// SPDX-License-Identifier: Apache-2.0
// Options of the client's calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

namespace http {
class Transport;
}

/// Retry policy of a call. Only failures after which a retry is safe are retried: 429 and 503 with
/// Retry-After for every method, because the server did not start processing; other 5xx and broken
/// connections for reads. Waits end at the call's deadline.
struct RetryOptions {
  int max_retries = 9;        ///< Retries after responses with Retry-After.
  int max_blind_retries = 4;  ///< Retries after other failures: first_delay, doubled each time, +-20 %.
  Duration first_delay = std::chrono::milliseconds{100};
  Duration default_retry_after = std::chrono::seconds{1};  ///< Used for a 429 without a Retry-After.
};

class AccessRecorder;
class EventLoop;
class FlowControl;

struct ClientOptions {
  std::shared_ptr<http::Transport> transport = {};  ///< Null: a curl transport made from the configuration.
  std::shared_ptr<const Clock> clock = {};          ///< Null: real_clock().
  Log log = {};
  std::string user_agent = "evenkeel";   ///< Used by the transport that the client makes.
  std::string field_owner = "evenkeel";  ///< Default field owner of writes; a call may override it.
  /// Total time budget per call, retries included; a call may override it.
  Duration timeout = std::chrono::seconds{60};
  RetryOptions retry = {};
  std::optional<std::uint64_t> seed = {};  ///< Seed of the retry jitter; unset: random.
  /// Limits the rate of all requests except streams, retries included; see client/flow_control.hpp. Null: no
  /// limit. A call whose wait would exceed its deadline fails at once, with TransportErrorCode::timeout.
  std::shared_ptr<FlowControl> flow_control = {};
  /// Drives the client and its caches and elections in place of their threads; see http/event_loop.hpp.
  std::shared_ptr<EventLoop> event_loop = {};
  /// Records a span of each request, and those of the controllers, caches and elections that use the client;
  /// see docs/tracing.md. Null: none.
  std::shared_ptr<Tracer> tracer = {};
  /// Records the rights that the client's requests need; see client/access_recorder.hpp. Null: none.
  std::shared_ptr<AccessRecorder> access_recorder = {};
  /// Wraps the transport: takes the given or default one and returns the one to use, for example to count
  /// requests.
  std::function<std::shared_ptr<http::Transport>(std::shared_ptr<http::Transport>)> wrap_transport = {};
};

/// Server-side handling of unknown or duplicate fields.
enum class FieldValidation : std::uint8_t { ignore, warn, strict };

using http::WriteGuard;

/// Options that a bound client applies to every call; see Client::with(). Unset members keep the previous
/// value.
struct CallOptions {
  std::optional<std::stop_token> stop = {};  ///< Ends calls with Cancelled.
  std::optional<Duration> timeout = {};      ///< Time budget of each call, retries included.
  std::optional<TimePoint> deadline = {};  ///< Deadline of all calls; the earlier of the two limits applies.
  std::optional<std::string> field_owner = {};
  std::optional<bool> dry_run = {};                      ///< The server performs all steps except storing.
  std::optional<FieldValidation> field_validation = {};  ///< Unset: the server's default, which is warn.
  std::optional<int> max_retries = {};                   ///< 0: never retry.
  /// Calls without a C++ type ask for metadata only; their objects are of kind PartialObjectMetadata of
  /// meta.k8s.io/v1. Typed calls ignore it.
  std::optional<bool> metadata_only = {};
  /// Exempts calls from flow control. Elections set it, because a renewal must not wait.
  std::optional<bool> without_flow_control = {};
  /// Checked whenever bytes of a request other than GET are about to be sent, retries included.
  std::shared_ptr<const WriteGuard> write_guard = {};
  /// Identity of the controller that writes, by which it recognizes the events of its own writes; see
  /// EventGate. Set by controllers.
  std::optional<std::uint64_t> writer = {};
  /// Parent of the spans of calls. Set by controllers to the span of the reconcile.
  std::optional<SpanContext> trace_parent = {};
};

struct ListOptions {
  std::string namespace_ = {};              ///< Empty: all namespaces.
  std::string label_selector = {};          ///< "app=web,tier in (a,b)"
  std::string field_selector = {};          ///< "metadata.name=web-0"
  std::size_t limit = 0;                    ///< Maximum number of objects; 0: unlimited.
  std::size_t page_size = 500;              ///< Objects per request; 0: no paging.
  std::string continue_token = {};          ///< Continues a limited list.
  std::string resource_version = {};        ///< "0": any version the server has cached; empty: the latest.
  std::string resource_version_match = {};  ///< "Exact" or "NotOlderThan".
};

enum class Propagation : std::uint8_t { background, foreground, orphan };

struct DeleteOptions {
  std::optional<Propagation> propagation = {};  ///< Handling of owned objects; unset: the kind's default.
  std::optional<std::int64_t> grace_period_seconds = {};
  std::string uid = {};               ///< Precondition: the object has this uid.
  std::string resource_version = {};  ///< Precondition: the object has this resourceVersion.
};

struct PatchOptions {
  std::string subresource = {};
  bool force = false;  ///< For apply patches: take over fields of other field owners.
};

struct ApplyOptions {
  bool force = true;  ///< Take over fields of other field owners, as controllers do.
};

}  // namespace v0
}  // namespace evenkeel
