// SPDX-License-Identifier: Apache-2.0
// Sharding: the replicas of a program share the keys of its objects through Leases, so that each key has one
// owner at any time. Usable without the controller runtime.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/sharding/slot.hpp>

namespace evenkeel {
inline namespace v0 {

class HashRanges;
class MetricSink;

struct ShardOptions {
  /// Name of the ring, and of the Lease that has its table; up to 40 characters of a DNS label. Those of its
  /// members are named "<name>-<identity>-<8 digits>".
  std::string name = {};
  std::string namespace_ = {};  ///< Empty: from the client's configuration.
  std::string identity = {};    ///< Part of this replica's name, for people. Empty: the host name.
  /// Number of parts into which the keys are divided, 1 to 4096; several times as many as replicas. If
  /// replicas disagree, the value of the one that created the table is used.
  std::size_t slots = 64;
  /// Must be the same in all replicas. A replica whose value differs from the table's runs no keys until
  /// all replicas with the table's value have stopped, and reports why (docs/sharding.md).
  /// ShardBy::namespace_range without a label needs the permission to list namespaces, to choose ranges that
  /// hold equally many.
  ShardBy by = ShardBy::object;
  /// With ShardBy::namespace_range: key of a label by whose values the server selects the objects of a
  /// replica, for servers that cannot select by hash, such as "sharding.evenkeel.dev/cell". The value is that
  /// of cell_of(); replicas add and correct it, so they need the permission to patch. With a label, slots are
  /// equal ranges of a mixed hash, at most 256. Empty: select by hash where the server supports it.
  std::string label = {};
  /// Time without a renewal after which the others take over. Whole seconds, rounded up. A replica whose time
  /// is longer than both 5 minutes and four times the shortest of the ring is given nothing.
  Duration lease_duration = std::chrono::seconds{15};
  /// Time without a successful renewal after which this replica stops running its keys.
  Duration renew_deadline = std::chrono::seconds{10};
  Duration retry_period = std::chrono::seconds{2};  ///< Interval between renewals.
  /// Time for the running reconciles of a slot that is handed over, before their stop tokens are triggered.
  Duration hand_over_timeout = std::chrono::seconds{30};
};

/// State of a replica, for probes and for people.
struct ShardsStatus {
  std::string member = {};   ///< Name of this replica; empty: it has not joined.
  std::size_t slots = 0;     ///< Number of slots of the ring; 0: the table is unknown.
  std::size_t owned = 0;     ///< Slots whose keys this replica may run.
  std::size_t draining = 0;  ///< Slots that wait for their last runs before the hand-over.
  std::size_t members = 0;   ///< Members that may be given slots, including this one.
  std::uint64_t gained = 0;  ///< Slots gained since the start.
  std::uint64_t given = 0;   ///< Slots handed over since the start.
  /// Slots lost with the membership or by an external write to the table.
  std::uint64_t lost = 0;
  Duration hand_over_time{};  ///< Total time for which running reconciles delayed hand-overs.
  std::string problem = {};   ///< Error of the table that a person must correct; empty: none.
};

class Shards;

/// The right to process one key, for as long as it exists: its slot is not handed over before.
/// Thread safety: one thread at a time. Lifetime: may outlive the Shards.
class EVENKEEL_API ShardRun {
 public:
  ShardRun(ShardRun&& other) noexcept;
  ShardRun& operator=(ShardRun&&) = delete;
  ~ShardRun();

  /// Generation of the slot: greater than that of each earlier owner of the key. Pass it to systems that can
  /// reject older ones.
  std::uint64_t generation() const noexcept { return generation_; }
  /// Triggered when the slot was lost, or its hand-over waits for longer than hand_over_timeout.
  const std::stop_token& stop() const noexcept { return stop_; }
  /// Returns a copy of `client` whose writes throw NotLeader once this membership has ended.
  Client guarded(const Client& client) const;

 private:
  friend class Shards;
  struct Parts;
  explicit ShardRun(Parts parts);
  std::shared_ptr<void> state_;
  std::shared_ptr<void> membership_;
  std::uint64_t generation_;
  Slot slot_;
  std::stop_token stop_;
};

/// A replica of a ring. docs/sharding.md has the protocol and its guarantees. Required permissions: get,
/// list, watch, create, update and delete of leases.
///
/// Use a separate client, whose connections carry nothing else.
/// Thread safety: all members may be called concurrently, run() by one thread at a time.
/// Lifetime: outlives run().
class EVENKEEL_API Shards {
 public:
  /// Throws std::invalid_argument for options out of their bounds.
  Shards(Client client, ShardOptions options);
  ~Shards();
  Shards(const Shards&) = delete;
  Shards& operator=(const Shards&) = delete;

  /// Takes part in the ring until `stop`, then hands everything over and returns when that is done, or when
  /// renew_deadline has passed without an answer of the server. After the membership was lost, joins again
  /// under another name.
  void run(const std::stop_token& stop);
  /// Begins to hand everything over. run() continues until the hand-over is complete; call it when the
  /// program begins to shut down.
  void leave() noexcept;

  /// Returns the right to process a key now; std::nullopt if another replica owns it, or none does.
  [[nodiscard]] std::optional<ShardRun> begin(std::string_view namespace_, std::string_view name);
  /// Returns true if begin() would succeed.
  bool owns(std::string_view namespace_, std::string_view name) const;
  /// Returns the slot of a key, once the table is known.
  std::optional<Slot> slot_of(std::string_view namespace_, std::string_view name) const;
  /// Describes the owner of a key in words: "slot 17 belongs to replica ring-b-1f0c9a3e".
  std::string describe_owner(std::string_view namespace_, std::string_view name) const;

  /// Adds a listener for slots that this replica gains: `gained[slot]` is true for them. Called on the thread
  /// of run(), under no lock; must not throw. To be added before run().
  void on_gained(std::function<void(const std::vector<bool>& gained)> listener);
  /// With ShardBy::namespace_range, adds an observer of the hashes of namespaces (NamespaceHash::plain; with
  /// a label, NamespaceHash::mixed) whose objects this replica needs. These are the hashes of
  ///  - the slots that it owns;
  ///  - the slots that are promised to it;
  ///  - the slots whose last runs have not ended.
  ///
  /// Until the next call, runs begin only in these namespaces, and in those of slots that this replica has
  /// just gained: for these, a run may begin a moment before the call. Called on the thread of run(), under
  /// no lock, before the listeners of on_gained(); must not throw. To be added before run().
  void on_needed(std::function<void(const HashRanges& needed)> observer);

  ShardsStatus status() const;
  /// For a liveness probe: the problem if the membership was lost longer than `tolerance` ago and runs of it
  /// have not ended; empty otherwise.
  std::string problem(Duration tolerance = std::chrono::seconds{20}) const;
  /// For a readiness probe: the reason why this replica does not take part; empty: it does.
  std::string unready() const;
  void collect(MetricSink& sink) const;

 private:
  friend class ShardRun;
  class State;
  std::shared_ptr<State> state_;
};

}  // namespace v0
}  // namespace evenkeel
