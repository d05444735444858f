// SPDX-License-Identifier: Apache-2.0
// Leader election on a Lease: of several instances, at most one is the leader at a time. Usable without the
// controller runtime.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include <evenkeel/base/error.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>

namespace evenkeel {
inline namespace v0 {

/// Thrown by writes through a guarded client while this instance is not the leader.
class NotLeader : public Error {
 public:
  using Error::Error;
};

struct ElectionOptions {
  std::string name = {};        ///< Name of the Lease.
  std::string namespace_ = {};  ///< Empty: from the client's configuration.
  /// Identity of this instance; must be unique. Empty: host name, "_" and a random part.
  std::string identity = {};
  std::map<std::string, std::string> labels = {};  ///< Labels of the Lease if this instance creates it.
  /// Time without a renewal after which another candidate may take over. Whole seconds, rounded up.
  Duration lease_duration = std::chrono::seconds{15};
  /// Time without a successful renewal after which the leader loses leadership.
  Duration renew_deadline = std::chrono::seconds{10};
  /// Interval between renewals, and between reads of a candidate that cannot watch.
  Duration retry_period = std::chrono::seconds{2};
  /// Release the Lease when the leader stops, so that the next leader need not wait for its expiry.
  bool release_on_stop = true;
  /// Seed of the jitter between a candidate's reads; unset: random.
  std::optional<std::uint64_t> seed = {};
  /// Called with each new holder, this instance included, and with "" when the Lease becomes free. Called on
  /// the elector's thread; must neither block nor throw.
  std::function<void(const std::string& holder)> on_new_holder = {};
};

/// A period during which this instance is the leader.
struct Leadership {
  /// leaseTransitions of the Lease, which is incremented with each term: a later leader has a greater one,
  /// unless the Lease is deleted. Pass it to systems that can reject older terms (docs/election.md).
  std::uint64_t term = 0;
  /// Requested when leadership ends; another instance may become leader once the Lease has expired.
  std::stop_token lost = {};
};

enum class ElectionEnd : std::uint8_t {
  stopped,   ///< The stop token was requested, before or during leadership.
  finished,  ///< The `lead` function returned on its own.
  lost,      ///< The Lease was not renewed in time, or another candidate holds it.
};

/// Callbacks for the progress of an election that start() began. Called on the thread of EventLoop::poll();
/// must neither block nor throw.
struct ElectionListener {
  /// Called when this instance has become the leader, which it remains until `leadership.lost` is requested
  /// or resign() is called.
  std::function<void(const Leadership& leadership)> on_leading = {};
  /// Called once, as the last callback, with `stopped` after resign(), else with `lost`. It may call start().
  std::function<void(ElectionEnd end)> on_end = {};
};

/// A candidate in a leader election. It takes the Lease when that is free, or when the Lease's duration has
/// passed since this instance last saw it change; clocks of different machines are never compared. The Lease
/// is watched, so that a released one is taken at once; if watching is forbidden, it is read every
/// retry_period. Required permissions: get, create, update and preferably watch of leases.
///
///     ek::Elector elector(client, {.name = "my-operator"});
///     elector.run(stop, [&](const ek::Leadership& leadership) {
///       work(elector.guarded(client), leadership.lost);   // returns when `lost` is requested
///     });
///
/// Use a separate client, whose connections carry nothing else.
/// Thread safety: all members may be called concurrently, run() by one thread at a time.
/// Lifetime: outlives run(); guarded clients may outlive it, and then reject all writes.
/// Source: client-go tools/leaderelection; deviations in docs/election.md.
class EVENKEEL_API Elector {
 public:
  /// Throws std::invalid_argument if the name is empty, or unless lease_duration > renew_deadline > 1.2 *
  /// retry_period > 0 and lease_duration >= 1 s.
  Elector(Client client, ElectionOptions options);
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  /// Waits until this instance is the leader, calls `lead` on this thread, and releases the Lease when that
  /// returns, which blocks for at most renew_deadline. The Lease is renewed on a dedicated thread during the
  /// call. `lead` must return when `leadership.lost` or `stop` is requested; its exceptions propagate.
  /// Requests that fail or get no response are retried until `stop`. If that comes while a claim is in
  /// flight, run() waits for the response, also for at most renew_deadline, and releases what was claimed.
  /// May be called again.
  ElectionEnd run(const std::stop_token& stop, const std::function<void(const Leadership&)>& lead);

  /// Starts the election without a thread, for a client with an event loop. The loop also detects that
  /// leadership has expired: if it is not polled in time, `lost` is requested late, but is_leader() and
  /// guarded clients remain correct. Throws std::invalid_argument if the client has no event loop, the
  /// listener lacks a function, or the elector is running.
  void start(ElectionListener listener);
  /// Ends an election that start() began: the Lease is released, and on_end follows. Otherwise no effect.
  /// Must be called on the loop's thread, as must the destructor, which ends the election at once, without a
  /// release or on_end.
  void resign();

  /// Returns true if this instance is the leader now; reads the clock, so it is correct even after the
  /// process was suspended.
  bool is_leader() const noexcept;
  /// Throws NotLeader unless is_leader().
  void check() const;
  /// Returns a copy of `client` whose writes throw NotLeader unless this instance is the leader at the time
  /// of sending.
  Client guarded(const Client& client) const;

  const std::string& identity() const noexcept;
  /// Returns the holder of the Lease, as last seen by run(); empty: none, or unknown.
  std::string holder() const;
  /// For a liveness probe: returns the problem if leadership was lost longer than `tolerance` ago and `lead`
  /// has not returned; empty otherwise.
  std::string problem(Duration tolerance = std::chrono::seconds{20}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
