// SPDX-License-Identifier: Apache-2.0
// The options of the client's calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {

namespace http {
class Transport;
}

/// When and how often a call is tried again. Retried are only answers and breaks after which that is safe:
/// 429 and 503 with Retry-After by any method, because the server did not begin; other 5xx and broken
/// connections for reads. Waits end at the call's deadline.
struct RetryOptions {
  int max_retries = 9;        ///< After the first try, where the server says when to come back.
  int max_blind_retries = 4;  ///< Where it does not: first_delay, doubled each time, +-20 %.
  Duration first_delay = std::chrono::milliseconds{100};
  Duration default_retry_after = std::chrono::seconds{1};  ///< For a 429 without a Retry-After.
};

struct ClientOptions {
  std::shared_ptr<http::Transport> transport = {};  ///< Null: a curl transport made from the configuration.
  std::shared_ptr<const Clock> clock = {};          ///< Null: the machine's.
  Log log = {};
  std::string user_agent = "evenkeel";          ///< For the transport that the client makes.
  std::string field_owner = "evenkeel";         ///< Who owns the fields that are written, unless a call says.
  Duration timeout = std::chrono::seconds{60};  ///< Of each call with all its retries, unless a call says.
  RetryOptions retry = {};
  std::optional<std::uint64_t> seed = {};  ///< Of the jitter of retries; unset: one that differs.
};

/// What server-side validation does about fields that the schema does not know, or knows twice.
enum class FieldValidation : std::uint8_t { ignore, warn, strict };

using http::WriteGuard;

/// What every call of a bound client carries, see Client::with(). What is unset stays as it was.
struct CallOptions {
  std::optional<std::stop_token> stop = {};  ///< Ends calls with Cancelled.
  std::optional<Duration> timeout = {};      ///< Of each call, from its start, with all its retries.
  std::optional<TimePoint> deadline = {};    ///< Of all calls together; the earlier of the two counts.
  std::optional<std::string> field_owner = {};
  std::optional<bool> dry_run = {};                      ///< The server does everything but store.
  std::optional<FieldValidation> field_validation = {};  ///< Unset: the server's default, which is to warn.
  std::optional<int> max_retries = {};                   ///< 0: never try again.
  /// Asked when bytes of a request other than GET are about to leave, also when it is tried again.
  std::shared_ptr<const WriteGuard> write_guard = {};
};

struct ListOptions {
  std::string namespace_ = {};              ///< Empty: all of them.
  std::string label_selector = {};          ///< "app=web,tier in (a,b)"
  std::string field_selector = {};          ///< "metadata.name=web-0"
  std::size_t limit = 0;                    ///< At most so many objects; 0: all.
  std::size_t page_size = 500;              ///< Objects per request; 0: no paging.
  std::string continue_token = {};          ///< Goes on where a limited list ended.
  std::string resource_version = {};        ///< "0": whatever the server has at hand; empty: the latest.
  std::string resource_version_match = {};  ///< "Exact" or "NotOlderThan".
};

enum class Propagation : std::uint8_t { background, foreground, orphan };

struct DeleteOptions {
  std::optional<Propagation> propagation = {};  ///< What becomes of owned objects; unset: the kind's default.
  std::optional<std::int64_t> grace_period_seconds = {};
  std::string uid = {};               ///< Delete only if the object has this uid,
  std::string resource_version = {};  ///< and this resourceVersion.
};

struct PatchOptions {
  std::string subresource = {};
  bool force = false;  ///< For apply patches: take over fields of other owners.
};

struct ApplyOptions {
  bool force = true;  ///< Take over fields that another field owner holds, as controllers do.
};

}  // namespace v0
}  // namespace evenkeel
