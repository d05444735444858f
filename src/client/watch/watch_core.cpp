// SPDX-License-Identifier: Apache-2.0
#include "client/watch/watch_core.hpp"

#include <algorithm>

#include "base/limits.hpp"
#include "client/request/retry_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

constexpr Duration first_delay = std::chrono::milliseconds{800};
constexpr Duration longest_delay = std::chrono::seconds{30};
constexpr Duration healthy = std::chrono::minutes{2};  // a connection of this length resets the back-off
constexpr Duration very_short = std::chrono::seconds{1};
constexpr unsigned free_reconnects = 3;  // after consecutive very short connections that delivered something
constexpr unsigned most_empty_ends = 3;  // consecutive very short connections that delivered nothing

/// Returns true if the server no longer has the version. Not every server sets the code.
bool says_gone(const Status& status) {
  return status.code == 410 || (status.code == 0 && (status.reason == "Expired" || status.reason == "Gone"));
}

}  // namespace

void WatchCore::on_connecting(TimePoint now) {
  state_ = State::connected;
  connected_at_ = now;
  events_ = 0;
  accepted_ = false;
}

void WatchCore::on_event(bool added, const std::string& resource_version) {
  ++events_;
  failures_ = 0;
  gones_ = 0;
  if (!added) synthetic_ = false;
  if (!synthetic_ && !resource_version.empty()) version_ = resource_version;
}

void WatchCore::on_ended(TimePoint now) {
  closed(now);
  if (is_expired()) return end_gone();
  // The server's own time limit is not a failure; a server that ends each watch immediately is one.
  if (hurried() || (events_ == 0 && now - connected_at_ < very_short)) return back_off(now);
  failures_ = 0;
  reconnect(now);
}

void WatchCore::on_refused(const std::string& call, const Status& status, TimePoint now) {
  closed(now);
  const bool busy = status.code == 408 || status.code == 429;
  if (says_gone(status) || (!busy && is_expired())) return end_gone();
  if (!established_ && status.code >= 400 && status.code < 500 && !busy)
    return fail(std::make_exception_ptr(ApiError(call, status)));
  back_off(now);
  if (!status.retry_after) return;
  const Duration delay = std::min(*status.retry_after, limits::watch_retry_after);
  retry_at_ = std::max(retry_at_, deadline_after(now, delay));
}

void WatchCore::on_broken(const std::exception_ptr& error, std::optional<TransportErrorCode> code,
                          TimePoint now) {
  const bool hopeless =
      code == TransportErrorCode::closed || (code == TransportErrorCode::tls && !established_);
  if (hopeless) return fail(error);
  closed(now);
  if (is_expired()) return end_gone();
  back_off(now);
}

void WatchCore::restart(std::string resource_version, TimePoint now) {
  version_ = std::move(resource_version);
  synthetic_ = is_unset(version_);
  if (hurried() || gones_ > 1) return back_off(now);
  failures_ = 0;
  reconnect(now);
}

void WatchCore::closed(TimePoint now) {
  if (now - connected_at_ >= very_short) {
    short_ends_ = empty_ends_ = 0;
  } else if (events_ > 0) {
    ++short_ends_;
    empty_ends_ = 0;
  } else if (accepted_) {
    ++empty_ends_;  // and a failure
  }
}

/// Returns true if the server seems to have lost the version without reporting that.
bool WatchCore::is_expired() const {
  return empty_ends_ >= most_empty_ends && !is_unset(version_);
}

void WatchCore::end_gone() {
  state_ = State::gone;
  ++gones_;
  empty_ends_ = 0;
}

void WatchCore::fail(const std::exception_ptr& error) {
  state_ = State::failed;
  error_ = error;
}

bool WatchCore::hurried() const {
  return short_ends_ > free_reconnects;
}

void WatchCore::back_off(TimePoint now) {
  if (now - connected_at_ >= healthy) failures_ = 0;
  const unsigned rung = std::max(failures_, hurried() ? short_ends_ - free_reconnects - 1 : 0);
  const Duration step = std::min(first_delay * (std::int64_t{1} << std::min(rung, 10U)), longest_delay);
  ++failures_;
  reconnect(deadline_after(now, std::clamp(jittered(step, 0.25, random_), first_delay, longest_delay)));
}

void WatchCore::reconnect(TimePoint when) {
  state_ = State::waiting;
  retry_at_ = when;
}

std::uint64_t WatchCore::random_below(std::uint64_t bound) {
  const Duration spread =
      jittered(Duration{static_cast<Duration::rep>(bound)}, 1.0, random_);  // [0, 2 bound)
  return static_cast<std::uint64_t>(spread.count()) / 2;
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
