// SPDX-License-Identifier: Apache-2.0
// The part of a watch that its blocking and its asynchronous driver share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <set>
#include <string>

#include <evenkeel/base/log.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/client/watch.hpp>

#include "client/watch/watch_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Returns true if a stream ended because no credentials were available for its request.
bool is_unsent(const std::exception_ptr& error);

/// A watch without its connection.
/// Driver:
///  1. connects with request() as WatchCore requires, and calls on_connecting() just before;
///  2. calls on_accepted() at a response of status 200, on_frame() for each frame of its body, and one of
///     on_end() and on_silence() if the connection ends otherwise, and delivers the events that they return;
///  3. drops the connection if core() is no longer connected after a frame, and goes on by the state of
///  core().
/// Thread safety: one thread at a time.
class WatchFlow {
 public:
  /// Throws std::invalid_argument if no path can contain the resource and the namespace.
  WatchFlow(Log log, const ResourceId& resource, WatchOptions options, std::uint64_t seed);

  const WatchCore& core() const { return core_; }
  const WatchOptions& options() const { return options_; }
  /// Returns a request with a random time limit, so that the watches of many clients do not reconnect
  /// together.
  RestRequest request();

  void on_connecting(TimePoint now);
  void on_accepted() { core_.on_accepted(); }
  std::optional<RawWatchEvent> on_frame(std::string text, TimePoint now);
  /// Handles the end of the body, or of the exchange with `error`, after the request was sent.
  std::optional<RawWatchEvent> on_end(const http::Response& answer, const std::exception_ptr& error,
                                      TimePoint now);
  /// Handles that no head of a response came in time.
  void on_silence(TimePoint now);
  /// Handles that the request could not be made; returns false if that is final.
  bool on_unsent(const std::exception_ptr& error, TimePoint now);
  void restart(std::string resource_version, TimePoint now);

 private:
  std::optional<RawWatchEvent> reject(const std::string& problem, TimePoint now);
  std::optional<RawWatchEvent> refuse(const Status& status, TimePoint now);
  std::optional<RawWatchEvent> gone() const;
  void note(const std::exception_ptr& error);

  const Log log_;
  const ResourceId resource_;
  const WatchOptions options_;
  WatchCore core_;
  TimePoint connected_at_{};
  std::set<std::string> noted_;  // reasons that were logged
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
