// SPDX-License-Identifier: Apache-2.0
// Leader election on a Lease: of several instances, at most one leads at a time. It needs no runtime.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
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

/// A write through a guarded client that came too late: this instance is not the leader, or not any more.
class NotLeader : public Error {
 public:
  using Error::Error;
};

struct ElectionOptions {
  std::string name = {};        ///< Of the Lease.
  std::string namespace_ = {};  ///< Empty: the client's configuration says.
  /// Who this instance is; no two may be the same. Empty: host name, "_" and a random part.
  std::string identity = {};
  /// After so long without a sign of the leader others take over. Whole seconds, rounded up.
  Duration lease_duration = std::chrono::seconds{15};
  /// A leader that could not renew for so long leads no more.
  Duration renew_deadline = std::chrono::seconds{10};
  /// Between two renewals, and between the reads of a candidate that cannot watch.
  Duration retry_period = std::chrono::seconds{2};
  /// A leader that stops frees the Lease, so that the next one need not wait for its end.
  bool release_on_stop = true;
  /// Called with each new holder, oneself included, "" when it becomes free. On the elector's thread; must
  /// neither block nor throw.
  std::function<void(const std::string& holder)> on_new_holder = {};
};

/// One time of leading.
struct Leadership {
  /// leaseTransitions of the Lease, which every term raises: a later leader's is greater, as long as nobody
  /// deletes the Lease. Send it along to whatever can refuse older ones (docs/election.md).
  std::uint64_t term = 0;
  /// Requested when it is over: somebody else may lead from the Lease's end on.
  std::stop_token lost = {};
};

enum class ElectionEnd : std::uint8_t {
  stopped,   ///< The stop token was requested, before or while leading.
  finished,  ///< What was done while leading returned by itself.
  lost,      ///< The Lease was not renewed in time, or somebody else has it.
};

/// Takes part in an election. A Lease is taken when it is free, or when its duration passed since this
/// instance saw it change; clocks of different machines are never compared. It is watched, so that a freed
/// one is taken at once; where watching is forbidden it is read every retry_period. Rights that are needed:
/// get, create, update, and if possible watch, of leases.
///
///     ek::Elector elector(client, {.name = "my-operator"});
///     elector.run(stop, [&](const ek::Leadership& leadership) {
///       work(elector.guarded(client), leadership.lost);   // returns when `lost` is requested
///     });
///
/// The client should be one of its own, so that its connections carry nothing else.
/// Thread safety: all members may be called concurrently, run() by one thread at a time. Lifetime: outlives
/// run(); guarded clients may outlive it, and then write nothing. Source: client-go tools/leaderelection;
/// deviations in docs/election.md.
class EVENKEEL_API Elector {
 public:
  /// Throws std::invalid_argument without a name, or unless lease_duration > renew_deadline > 1.2 *
  /// retry_period > 0 and lease_duration >= 1 s.
  Elector(Client client, ElectionOptions options);
  ~Elector();
  Elector(const Elector&) = delete;
  Elector& operator=(const Elector&) = delete;

  /// One campaign: waits until this instance is the leader, calls `lead` on this thread, and gives leadership
  /// up when that returns; blocks for at most renew_deadline then, to free the Lease. Renewing goes on on a
  /// thread of its own meanwhile. `lead` is to return when `leadership.lost` or `stop` is requested; what it
  /// throws is thrown on. A server that does not answer or refuses is tried again until `stop`. May be called
  /// again, for another campaign.
  ElectionEnd run(const std::stop_token& stop, const std::function<void(const Leadership&)>& lead);

  /// Whether this instance leads now; looks at the clock, so it is right also if the process slept.
  bool is_leader() const noexcept;
  /// Throws NotLeader unless is_leader().
  void check() const;
  /// `client`, whose writes throw NotLeader unless this instance is the leader when they are about to be
  /// sent.
  Client guarded(const Client& client) const;

  const std::string& identity() const noexcept;
  /// Who holds the Lease, as far as a running campaign knows; empty: nobody, or not known.
  std::string holder() const;
  /// For a liveness probe: what is wrong if leadership was lost longer than `tolerance` ago and `lead` has
  /// not returned. Empty: nothing.
  std::string trouble(Duration tolerance = std::chrono::seconds{20}) const;

 private:
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
