// SPDX-License-Identifier: Apache-2.0
// The decisions of one member of a ring: which slots it may run, what it writes into the table, and when
// other members have ended. No thread, lock, clock or client; time is an argument. The driver is
// Shards::State (shards_state.hpp).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/sharding/slot.hpp>

#include "sharding/shard_table.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct ShardCoreOptions {
  std::string namespace_ = {};
  std::string ring = {};    ///< Name of the table's Lease, and value of the label of all Leases of the ring.
  std::string member = {};  ///< Name and holder of this member's own Lease; never used twice.
  std::size_t slots = 64;   ///< Used if there is no table yet.
  std::string division = "object";  ///< Name of this member's division, which its Lease has as a label.
  /// For ShardBy::namespace_range: hashes of the namespaces, to which a new table fits its ranges.
  std::vector<std::uint64_t> hashes = {};
  Duration lease_duration = {};
  Duration retry_period = {};
};

/// One membership, from joining until the member's Lease is lost or it has left.
///
/// A member runs a slot while the newest table that it has seen names it as the holder, in a generation that
/// it has not begun to give up, and while its own Lease is valid. Every change of the table is an update with
/// the resourceVersion that it was decided on. A holder is replaced by itself, after its runs have ended, or
/// by others once it has ended: its Lease has been taken from it by an update, after it was seen unchanged
/// for its duration. That is final, because names are never used twice. Once a member starts to give up
/// a generation, it never runs it again, so that it does not matter if and when a write without an answer
/// takes effect.
///
/// All members compute the same plan. The first eligible member, by name, writes it; each other member does
/// so if the plan is still not written one retry_period after its predecessor's turn.
///
/// A Lease alone does not make a member: one is eligible for slots once a renewal of its Lease was seen or
/// the table names it, and unless its Lease would keep its slots from the others for too long. So the ring
/// loses nothing to Leases that nobody renews. When slots are taken from a member, its Lease's own duration
/// counts.
///
/// A member whose division differs from the table's runs nothing, and is given nothing. When all members of
/// the table's division have ended, and no slot has a holder that has not, those of another division make the
/// table theirs, by an update like any other: nobody runs a key of the version that it was decided on.
/// Likewise the ranges of a ring that divides by ranges are fitted to the namespaces again when no slot has a
/// holder that has not ended: the set of namespaces may have changed.
///
/// Driver:
///  1. calls next_step(), sends its request if it has one, and calls it again until it has none;
///  2. calls it again at Step::next_due, and after each call of 3 to 6;
///  3. calls on_listed(), on_answered(), on_conflict() or on_failure() for each request;
///  4. calls on_lease() or on_deleted() for the events of a watch of all Leases with the ring's label;
///  5. starts and ends work as take_changes() says, calls on_drained() when the last run of a slot that is
///     being given up has ended, and logs take_warnings();
///  6. calls leave() when it is asked to stop, and ends when has_left();
///  7. ends all work, and this object, when the member's own Lease is lost or its time is over.
/// Thread safety: one thread at a time.
class ShardCore {
 public:
  enum class Ask : std::uint8_t { list, create, update, remove };
  struct Request {
    std::uint64_t id = 0;
    Ask ask = Ask::list;
    std::string name = {};  ///< Name of the Lease.
    Json body = {};         ///< For create and update; for remove, the Lease as it was seen.
  };
  struct Step {
    std::optional<Request> request = {};    ///< Request to send; then call next_step() again.
    TimePoint next_due = TimePoint::max();  ///< Without a request: time of the next call.
  };
  struct Change {
    enum class Kind : std::uint8_t {
      gained,    ///< Its keys may run.
      draining,  ///< No run may begin; on_drained() is awaited.
      lost,      ///< Its runs must end at once.
      given,     ///< It has been given up, after on_drained().
    } kind = Kind::gained;
    Slot slot = 0;
    std::uint64_t generation = 0;
  };

  /// A member that is given no slots, because its Lease lasts too long.
  struct Warning {
    std::string member = {};
    Duration duration = {};
    Duration longest = {};
    bool operator==(const Warning&) const = default;
  };

  explicit ShardCore(ShardCoreOptions options) : options_(std::move(options)) {}

  Step next_step(TimePoint now, WallTime wall);

  // Results of request `id`. Unknown ids are ignored.
  /// `version`: resourceVersion of the list.
  void on_listed(std::uint64_t id, const std::vector<Json>& leases, const std::string& version,
                 TimePoint now);
  void on_answered(std::uint64_t id, const Json& lease, TimePoint now);
  void on_conflict(std::uint64_t id, TimePoint now);  ///< 404 and 409.
  void on_failure(std::uint64_t id, TimePoint now);   ///< It is unknown if it had its effect.

  void on_lease(const Json& lease, TimePoint now);
  void on_deleted(const Json& lease, TimePoint now);
  /// Events of the watch may have been missed: the Leases are listed again.
  void on_gap() { must_list_ = true; }

  void on_drained(Slot slot, std::uint64_t generation);
  /// Begins to hand over all slots.
  void leave();
  bool has_left() const { return left_; }

  std::vector<Change> take_changes();
  /// Returns one warning for each member.
  std::vector<Warning> take_warnings();

  /// Returns the table, if it is known.
  const std::optional<ShardTable>& table() const { return table_; }
  /// Returns the members that may be given slots, of any division.
  std::set<std::string> eligible(TimePoint now) const;
  /// Returns an error of the table that needs a person; empty: none. With an error of its division there is a
  /// table.
  const std::string& problem() const { return problem_; }

  static constexpr const char* label = "sharding.evenkeel.dev/ring";

 private:
  struct Member {
    Json lease = {};  // null: there is none
    std::string holder = {};
    std::string version = {};
    Duration duration = {};
    TimePoint since = {};  // first time at which its claim was seen in its present form
    bool proven = false;   // a renewal was seen, or the table has named it
    TimePoint retry_at = TimePoint::min();
  };
  struct Held {
    std::uint64_t generation = 0;
    bool draining = false;
    bool drained = false;
  };
  enum class Purpose : std::uint8_t { list, table, fence, sweep };
  struct Pending {
    std::uint64_t id = 0;
    Purpose purpose = Purpose::list;
    std::string name = {};
  };

  Step send(Ask ask, Purpose purpose, std::string name, Json body);
  std::optional<Step> table_step(TimePoint now, WallTime wall);
  std::optional<Step> fence_step(TimePoint now, WallTime wall);
  std::optional<Step> sweep_step(TimePoint now);
  ShardTable planned(TimePoint now) const;
  ShardTable with_own_part(const ShardTable& plan) const;
  void distribute(ShardTable& plan, TimePoint now) const;
  Json document(const ShardTable& table, WallTime wall) const;
  Json freed(const std::string& name, const Member& member, WallTime wall) const;
  void take_table(Json lease, TimePoint now);
  void forget_table(TimePoint now);
  void take_member(const std::string& name, const Json& lease, TimePoint now);
  void look_for_lost_holders(TimePoint now);
  void compare();
  TimePoint next_change(TimePoint now) const;
  bool has_ended(const std::string& member) const;
  static bool is_alive(const std::string& name, const Member& member, Duration longest, TimePoint now);
  Duration longest_duration(TimePoint now) const;
  void note_long_durations(TimePoint now);
  std::set<std::string> peers(TimePoint now) const;
  const std::string& division_of(const std::string& member) const;
  bool is_foreign() const;
  bool is_deserted(TimePoint now) const;
  bool is_idle() const;
  SlotRanges own_ranges(std::size_t slots) const;
  bool gives_all() const { return leaving_ || is_foreign(); }
  bool withdraws() const;
  std::string division_problem() const;
  Duration rank_delay(const std::set<std::string>& among) const;
  std::optional<Pending> finish(std::uint64_t id);
  void drain(Slot slot, Held& held);
  bool has_table_lease() const { return !table_lease_.is_null(); }
  std::string table_version() const;

  const ShardCoreOptions options_;
  std::map<std::string, Member> members_;  // by name; this member's own is not in it
  std::optional<ShardTable> table_;
  Json table_lease_;  // the document that it was read from, or could not be; null: there is none
  std::map<Slot, Held> held_;
  std::vector<Change> changes_;
  std::vector<Warning> warnings_;
  std::set<std::string> warned_;  // members that a warning was about
  std::string problem_;
  std::optional<Pending> pending_;
  std::uint64_t last_id_ = 0;
  bool must_list_ = true;
  bool listed_ = false;
  bool dirty_ = true;  // an input may have changed the plan
  bool leaving_ = false;
  bool left_ = false;
  TimePoint list_at_ = TimePoint::min();
  TimePoint write_at_ = TimePoint::min();  // earliest time of the next write of the table
  // Refused writes of the table in a row. From this number on a pause comes after each: other members write
  // it faster than this one, or something in front of the server refuses each write.
  static constexpr unsigned most_conflicts = 5;
  unsigned conflicts_ = 0;
  TimePoint quarantine_ = TimePoint::min();  // the table was deleted; its holders may still run
  TimePoint look_at_ = TimePoint::min();     // without an input: time of the next look at the plan
  std::optional<TimePoint> undone_since_;    // the plan differs from the table
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
