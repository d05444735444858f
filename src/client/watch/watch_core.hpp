// SPDX-License-Identifier: Apache-2.0
// Decides how a watch continues after a connection ended. No sockets, threads or clock.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include <evenkeel/base/time.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// State of a reconnecting watch.
/// Driver:
///  1. connects at next_due(), and calls on_connecting() just before;
///  2. calls on_accepted() when the server accepts the watch, and on_event() for each event or bookmark;
///  3. calls on_ended(), on_refused() or on_broken(), whichever ended the connection, and looks at state();
///  4. in state gone, lists again and calls restart(); in state failed, reports error().
/// Thread safety: one thread at a time.
///
/// The server can make it reconnect without a delay only a few times in a row: connections that end
/// immediately, and 410s without an event in between, count as failures and back off. A server, or a proxy
/// before it, that repeatedly accepts the watch and ends it immediately without an event, in any way, may no
/// longer have its version: that counts as gone. Source: client-go tools/cache/reflector.go, where the first
/// such end is followed by a list; unlike there, a rejection before the first success is final.
class WatchCore {
 public:
  enum class State : unsigned char {
    connected,
    waiting,  ///< Connect at next_due().
    gone,     ///< Waits for restart().
    failed,   ///< Permanently, with error().
  };

  WatchCore(std::string resource_version, std::uint64_t seed)
      : version_(std::move(resource_version)), synthetic_(is_unset(version_)), random_(seed) {}

  State state() const { return state_; }
  std::optional<TimePoint> next_due() const {
    return state_ == State::waiting ? std::optional(retry_at_) : std::nullopt;
  }
  const std::exception_ptr& error() const { return error_; }
  /// Returns true if the server has accepted the watch once.
  bool established() const { return established_; }
  /// Version at which the next connection starts; "" for the beginning.
  const std::string& resource_version() const { return version_; }

  void on_connecting(TimePoint now);
  void on_accepted() { established_ = accepted_ = true; }
  /// Handles an event with an object, or a bookmark.
  void on_event(bool added, const std::string& resource_version);
  /// Handles a proper end of the watch by the server.
  void on_ended(TimePoint now);
  /// Handles a rejection or an abort by the server, by its response or by an ERROR event.
  void on_refused(const std::string& call, const Status& status, TimePoint now);
  /// Handles a broken connection, or invalid data.
  void on_broken(const std::exception_ptr& error, std::optional<TransportErrorCode> code, TimePoint now);
  void restart(std::string resource_version, TimePoint now);
  /// Returns a number below `bound`, derived from the seed.
  std::uint64_t random_below(std::uint64_t bound);

 private:
  static bool is_unset(const std::string& version) { return version.empty() || version == "0"; }
  void closed(TimePoint now);
  bool hurried() const;
  bool is_expired() const;
  void end_gone();
  void fail(const std::exception_ptr& error);
  void back_off(TimePoint now);
  void reconnect(TimePoint when);

  std::string version_;
  // Until the first event that is not `added`, a watch from the beginning delivers the existing objects in no
  // order of versions; resuming from the version of one of those would skip others.
  bool synthetic_;
  std::uint64_t random_;
  State state_ = State::waiting;
  TimePoint retry_at_ = TimePoint::min();
  TimePoint connected_at_{};
  std::uint64_t events_ = 0;  // on this connection
  unsigned failures_ = 0;     // in a row
  unsigned short_ends_ = 0;   // consecutive connections that delivered an event and ended within very_short
  unsigned empty_ends_ = 0;   // consecutive accepted connections that ended within very_short and no event
  unsigned gones_ = 0;        // in a row, without an event in between
  bool accepted_ = false;     // this connection
  bool established_ = false;  // any connection
  std::exception_ptr error_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
