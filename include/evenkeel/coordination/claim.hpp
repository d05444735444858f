// SPDX-License-Identifier: Apache-2.0
// Doing an action once, whoever does it: claim, act, settle. A claim says in the store what is going to be
// done to what, and by whom, in the transaction that decides it. Settling says that it was done, which
// consumes its targets: nobody does it to them again. A claim whose owner died is taken over by asking the
// shared system what had been done.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <stop_token>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/gate.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/layout.hpp>
#include <evenkeel/coordination/ledger.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/transact.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// A claim that this process holds.
struct Claim {
  std::string action = {};
  /// The fencing token: greater than that of every earlier claim of the action. Whatever can refuse an older
  /// one gets it.
  std::uint64_t epoch = 0;
  std::vector<Target> targets = {};
  bool partial = false;  ///< See Proceed.
};

/// A transaction that has been decided, to be committed on the snapshot of its view.
struct PlannedClaim {
  Commit commit = {};
  Claim claim = {};
};
/// What plan_claim() needs besides the gate.
struct Claimant {
  Identity identity = {};
  bool holds_lock = false;        ///< As the view's lock entry says (lock_held_by()).
  bool registry_in_reads = true;  ///< That silent instances are silent is a part of the decision; see below.
  bool range_conflict = true;     ///< What the store can, see Capabilities.
  bool acting = false;            ///< This process acts for a claim of the action just now.
  WallTime wall = {};             ///< For people.
};
/// The gate says no; or it says yes, and the lock is needed and not held.
struct NotClaimed {
  Verdict verdict = {};
  bool lock_missing = false;
};

/// Evaluates, and plans the claim if the verdict is Proceed. The commit rests upon the guards of the action's
/// sets and of the facts (so nothing came, changed or went), the claim's key, the own key of the
/// deny list, that nobody else was put on it, or was taken off it who was left out for that, the lock if
/// it is needed, and, with `registry_in_reads`, the records of the instances that were left out for being
/// silent. The number of these conditions does not grow with the number of scopes that take part. It writes
/// the claim with the next epoch, and its targets by scope; what earlier claims consumed is kept as long as
/// it is still a member. A run whose instance has another one in the registry, or another scope, gets none.
/// Pure.
EVENKEEL_API std::variant<PlannedClaim, NotClaimed> plan_claim(const Layout& layout, const View& view,
                                                               const ActionPolicy& policy,
                                                               const Situation& situation,
                                                               const Claimant& claimant, TimePoint now);

/// Whether the view's claim is unsettled and may be taken over by `identity` now: it is past its timeout, or
/// of this very process, which is not acting. When it may be: its time; nothing if there is none to take
/// over.
EVENKEEL_API std::optional<TimePoint> take_over_at(const View& view, const Claimant& claimant);
/// Plans to make the unsettled claim one's own, with the next epoch and the same targets, so that its owner
/// can settle it no more. Nothing unless it is due, or if the own scope is denied. Pure.
EVENKEEL_API std::optional<PlannedClaim> plan_take_over(const Layout& layout, const View& view,
                                                        const Claimant& claimant, TimePoint now);

/// What became of a claim.
struct ActReport {
  /// Nothing was done to these: they are not consumed. Every target: the claim has failed.
  std::vector<UnitRef> not_done = {};
  std::string note = {};  ///< For people.
};
/// Plans to settle: nothing if the claim is no longer what the store has (superseded), or is settled already.
/// Throws DecodeError. Pure.
EVENKEEL_API std::optional<Commit> plan_settle(const Layout& layout, const ViewEntries& entries,
                                               const Claim& claim, const Identity& identity,
                                               const ActReport& report, WallTime wall);
/// Plans to remove what claims remember of members that are no more; writes nothing if there is none, or
/// while a claim is executing. Pure.
EVENKEEL_API Commit plan_tidy(const Layout& layout, const View& view);

// --- The shell
// ------------------------------------------------------------------------------------------------

/// What one action's callbacks do. Both may block; neither is called under a lock.
struct ActionCallbacks {
  /// Does it, to all targets at once. What it throws counts as "it may have been done": the claim stays
  /// unsettled, and observe() is asked by the next step.
  std::function<ActReport(const Claim&, std::stop_token)> act = {};
  /// What has been done to the targets of a claim whose owner, or whose answer, was lost: asks the shared
  /// system.
  std::function<ActReport(const Claim&, std::stop_token)> observe = {};
};

/// How a step ended.
struct StepReport {
  enum class Kind : std::uint8_t {
    nothing,      ///< Nobody needs it.
    waits,        ///< See verdict, or lock_missing; ask again at `again`, or on a hint of the store.
    acted,        ///< Done, and settled (or not known to be: then the next step goes on).
    taken_over,   ///< An unsettled claim was cleared up.
    unavailable,  ///< The store does not say: nothing was done.
    unknown,      ///< A claim was sent, and its answer lost: nothing was done; the next step finds out.
    superseded,   ///< Somebody took the claim over while this process acted: it was paused for too long.
  };
  Kind kind = Kind::nothing;
  Verdict verdict = {};
  std::string why = {};                 ///< For people; empty if there is nothing to say.
  std::optional<Claim> claim = {};      ///< acted, taken_over, superseded.
  std::optional<TimePoint> again = {};  ///< When time alone may change the answer.
  bool lock_missing = false;            ///< The gate is open, and the lock is not held.
  bool executing = false;               ///< There is a claim that is not settled yet.
  Transacted transacted = {};           ///< Of the claim.
};

struct ActionClaimsOptions {
  TransactOptions transact = {};  ///< token_key, token and clock are set here.
};

/// One instance's claims, on top of its ledger. The parts (claim, settle, take over) may be called one by
/// one; step() is the usual way through them. Thread safety: all members may be called concurrently; one
/// transaction runs at a time. Blocks: as Store does. Lifetime: not longer than the ledger.
class EVENKEEL_API ActionClaims {
 public:
  explicit ActionClaims(Ledger& ledger, ActionClaimsOptions options = {});

  /// A claim; or why there is none, in a report that says waits, nothing, unavailable or unknown. Who has a
  /// claim acts, and then calls settle(), or abandon().
  std::variant<Claim, StepReport> claim(const ActionPolicy& policy, const Situation& situation,
                                        std::stop_token stop = {});
  /// Committed: settled. Conflict: superseded. Unknown, Unavailable: try again, or abandon().
  CommitResult settle(const Claim& claim, const ActReport& report, std::stop_token stop = {});
  /// This process does nothing more about `claim`: it need not be overdue for take_over() by this process.
  void abandon(const Claim& claim);
  /// The claim of the action that is due to be taken over, with a new epoch; nothing if there is none.
  std::optional<Claim> take_over(const ActionPolicy& policy, std::stop_token stop = {});
  /// Removes what claims remember of members that are no more.
  CommitResult tidy(std::string_view action, std::stop_token stop = {});

  /// Takes over what is due and clears it up; else claims, acts and settles, if the gate says so. Whose
  /// callbacks throw twice in a row leaves the action to others for two claim timeouts: it may be cut off
  /// from the shared system, and they not. `take_lock`, if the policy needs the lock, is called when the gate
  /// is open and the lock is not held; true: it is held now, and the claim is tried once more.
  StepReport step(const ActionPolicy& policy, const Situation& situation, const ActionCallbacks& callbacks,
                  const std::function<bool(std::stop_token)>& take_lock = {}, std::stop_token stop = {});

  /// What the gate says now, without claiming: for shadow mode and for people. Throws as Ledger::view().
  Verdict evaluate(const ActionPolicy& policy, const Situation& situation, std::stop_token stop = {});

 private:
  Transacted transact_arbiter(const TransactBody& body, const std::stop_token& stop)
      EVENKEEL_REQUIRES(transacting_);
  Claimant claimant(const View& view);
  void begin(const std::string& action);
  StepReport attempt(const ActionPolicy& policy, const Situation& situation, const ActionCallbacks& callbacks,
                     const std::function<bool(std::stop_token)>& take_lock, const std::stop_token& stop);
  StepReport finish(StepReport report, const std::function<ActReport(const Claim&, std::stop_token)>& ask,
                    Duration timeout, const std::stop_token& stop);
  void note_success(const std::string& action);
  void note_failure(const std::string& action, Duration timeout);
  std::optional<StepReport> rests(const std::string& action);

  struct Failures {
    unsigned count = 0;  // of callbacks, in a row
    TimePoint rest_until = TimePoint::min();
  };
  Ledger& ledger_;
  const ActionClaimsOptions options_;
  Mutex transacting_;  // one transaction at a time per token key
  Mutex mutex_;
  std::set<std::string> acting_ EVENKEEL_GUARDED_BY(mutex_);  // actions that this process has a claim of
  std::map<std::string, Failures> failures_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
