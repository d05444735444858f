// SPDX-License-Identifier: Apache-2.0
// Decides how a watch goes on after whatever ended a connection. No sockets, threads or clock.
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

/// Thread safety: one thread at a time.
/// No answer of the server makes it reconnect without a pause more than a few times in a row: connections
/// that end at once, and 410s without an event in between, climb the ladder of failures. Source: client-go
/// tools/cache/reflector.go; unlike it, a refusal before the first success is final.
class WatchCore {
 public:
  enum class State : unsigned char {
    connected,
    waiting,  ///< Connect at retry_at().
    gone,     ///< Until restart().
    failed,   ///< For good, by error().
  };

  WatchCore(std::string resource_version, std::uint64_t seed)
      : version_(std::move(resource_version)), synthetic_(is_unset(version_)), random_(seed) {}

  State state() const { return state_; }
  TimePoint retry_at() const { return retry_at_; }
  const std::exception_ptr& error() const { return error_; }
  /// Where the next connection goes on; "" from the start.
  const std::string& resource_version() const { return version_; }

  void connecting(TimePoint now);
  void accepted() { established_ = true; }
  /// An event with an object, or a bookmark.
  void event(bool added, const std::string& resource_version);
  /// The server ended the watch properly.
  void ended(TimePoint now);
  /// The server refused or broke it off, by its answer or by an ERROR event.
  void refused(const std::string& call, const Status& status, TimePoint now);
  /// The connection broke, or what came over it is no watch.
  void broken(const std::exception_ptr& error, std::optional<TransportErrorCode> code, TimePoint now);
  void restart(std::string resource_version, TimePoint now);
  /// A number below `bound`, from the seed.
  std::uint64_t random_below(std::uint64_t bound);

 private:
  static bool is_unset(const std::string& version) { return version.empty() || version == "0"; }
  void closed(TimePoint now);
  bool hurried() const;
  void back_off(TimePoint now);
  void reconnect(TimePoint when);

  std::string version_;
  // Until the first event that is not `added`, a watch from the start delivers what exists, in no order of
  // versions: going on from the version of one of those would skip others.
  bool synthetic_;
  std::uint64_t random_;
  State state_ = State::waiting;
  TimePoint retry_at_ = TimePoint::min();
  TimePoint connected_at_{};
  std::uint64_t events_ = 0;  // of this connection
  unsigned failures_ = 0;     // in a row
  unsigned short_ends_ = 0;   // connections in a row that brought an event and ended within very_short
  unsigned gones_ = 0;        // in a row, without an event in between
  bool established_ = false;
  std::exception_ptr error_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
