// SPDX-License-Identifier: Apache-2.0
// Ensures that an action is done once: claim, act, settle. A claim records in the store which instance acts
// on which targets, in the same transaction that makes the decision. Settling records that the action was
// done and consumes the targets, so that no instance acts on them again. If the owner of a claim dies,
// another instance takes the claim over and asks the shared system what had been done.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  /// The fencing token, greater than that of every earlier claim of the action. Pass it to systems that can
  /// refuse older tokens.
  std::uint64_t epoch = 0;
  std::vector<Target> targets = {};
  bool partial = false;  ///< See Proceed.
};

/// A claim that was decided on, and the commit that makes it, to be committed on the snapshot of its view.
struct PlannedClaim {
  Commit commit = {};
  Claim claim = {};
};
/// The inputs of plan_claim() besides those of the gate.
struct Claimant {
  Identity identity = {};
  bool holds_lock = false;        ///< According to the view's lock entry (lock_held_by()).
  bool registry_in_reads = true;  ///< Makes the silence of silent instances a condition; see plan_claim().
  bool range_conflict = true;     ///< Capabilities::range_conflict of the store.
  bool acting = false;            ///< This process is acting for a claim of the action at the moment.
  std::size_t value_bytes = 0;    ///< Limits::value_bytes of the store.
  WallTime wall = {};             ///< Informational.
};
/// The verdict of a gate that is not open; or Proceed with lock_missing, if the lock is needed and not held.
struct NotClaimed {
  Verdict verdict = {};
  bool lock_missing = false;
};

/// Evaluates the gate, and plans the claim if the verdict is Proceed. The commit is conditional on:
/// - the guards of the action's sets and of the facts, so that no member or fact was added, changed or
/// removed;
/// - the claim's key;
/// - the caller's key of the deny list;
/// - the other keys of the deny list: no scope was added, and no scope that was left out for being denied was
/// removed;
/// - the lock, if it is needed;
/// - with `registry_in_reads`, the records of the instances that were left out because they are silent.
/// The number of conditions does not grow with the number of scopes that take part. The commit writes the
/// claim with the next epoch and its targets by scope, and keeps what earlier claims consumed for as long as
/// it is a member. If the registry has another run or another scope for the caller's instance, there is no
/// claim. Pure. Throws std::invalid_argument if the view is not whole (View::whole).
EVENKEEL_API std::variant<PlannedClaim, NotClaimed> plan_claim(const Layout& layout, const View& view,
                                                               const ActionPolicy& policy,
                                                               const Situation& situation,
                                                               const Claimant& claimant, TimePoint now);

/// Returns why plan_claim() would not claim; nullopt if it probably would. The view need not be whole. Pure.
EVENKEEL_API std::optional<NotClaimed> refuse_claim(const View& view, const ActionPolicy& policy,
                                                    const Situation& situation, const Claimant& claimant,
                                                    TimePoint now);

/// Returns the time at which `claimant` may take over the view's claim: the end of its timeout, or at once if
/// the claim belongs to this process, which is not acting. Returns nullopt if there is no claim to take over.
EVENKEEL_API std::optional<TimePoint> take_over_at(const View& view, const Claimant& claimant);
/// Plans to take over the unsettled claim with the next epoch and the same targets, so that its owner can no
/// longer settle it. Returns nullopt if that is not due, if the caller's scope is denied, if the registry has
/// another run or another scope for the caller's instance, or if the view is not whole. Pure.
EVENKEEL_API std::optional<PlannedClaim> plan_take_over(const Layout& layout, const View& view,
                                                        const Claimant& claimant, TimePoint now);

/// The result of acting for a claim.
struct ActReport {
  /// Targets that were not acted upon; they are not consumed. If these are all targets, the claim has failed.
  std::vector<UnitRef> not_done = {};
  std::string note = {};  ///< For people.
};
/// Plans to settle. Returns nullopt if the store no longer has this claim (it was superseded), or if it is
/// already settled. Of `entries` it needs the version, the claim, `taken`, and, if the report has targets
/// that were not done, the targets. Throws DecodeError. Pure.
EVENKEEL_API std::optional<Commit> plan_settle(const Layout& layout, const ViewEntries& entries,
                                               const Claim& claim, const Identity& identity,
                                               const ActReport& report, WallTime wall);
/// Plans to remove what claims recorded about former members. Writes nothing if there is nothing to remove,
/// or while a claim is executing. Pure. Throws std::invalid_argument if the view is not whole.
/// `value_bytes` is that of Claimant.
EVENKEEL_API Commit plan_tidy(const Layout& layout, const View& view, std::size_t value_bytes = 0);
/// Returns true if plan_tidy() may find something to remove. The view need not be whole: then this is false
/// for a scope until none of its members is consumed. Pure.
EVENKEEL_API bool may_need_tidying(const View& view);

// --- Shell ---

/// The callbacks of one action. Both may block; they are called without locks held.
struct ActionCallbacks {
  /// Acts on all targets at once. If it throws, the action may have been done: the claim stays unsettled, and
  /// the next step calls observe().
  std::function<ActReport(const Claim&, std::stop_token)> act = {};
  /// Asks the shared system which targets of a claim have been acted upon, after its owner died or an answer
  /// was lost.
  std::function<ActReport(const Claim&, std::stop_token)> observe = {};
};

/// The result of ActionClaims::step().
struct StepReport {
  enum class Kind : std::uint8_t {
    nothing,      ///< No unit needs the action.
    waits,        ///< See verdict and lock_missing; retry at `again`, or on a hint of the store.
    acted,        ///< Done, and settled (or the answer to settling was lost; then the next step resolves it).
    taken_over,   ///< An unsettled claim was taken over and settled.
    unavailable,  ///< The store did not answer, or refused to make the claim or take it over: nothing was
                  ///< done.
    unknown,      ///< The answer to that was lost: nothing was done; the next step resolves it.
    superseded,   ///< Another instance took the claim over while this process acted: it was paused for too
                  ///< long.
  };
  Kind kind = Kind::nothing;
  Verdict verdict = {};
  std::string why = {};                 ///< For people; may be empty.
  std::optional<Claim> claim = {};      ///< For acted, taken_over and superseded.
  std::optional<TimePoint> again = {};  ///< When the passage of time alone may change the result.
  bool lock_missing = false;            ///< The gate is open, but the lock is not held.
  bool executing = false;               ///< There is an unsettled claim.
  Transacted transacted = {};           ///< The transaction of the claim, or of the take-over that failed.
};

struct ActionClaimsOptions {
  TransactOptions transact = {};  ///< token_key, token and clock are set by ActionClaims.
};

/// The claims of one instance, on top of its ledger. step() is the usual way to use it; claim(), settle() and
/// take_over() may also be called individually. Thread safety: all members may be called concurrently;
/// transactions run one at a time. Blocks: as Store does. Lifetime: must not outlive the ledger.
class EVENKEEL_API ActionClaims {
 public:
  explicit ActionClaims(Ledger& ledger, ActionClaimsOptions options = {});

  /// Claims the action. Returns the claim, or a report of kind waits, nothing, unavailable or unknown. A
  /// caller that gets a claim acts, and then calls settle() or abandon().
  std::variant<Claim, StepReport> claim(const ActionPolicy& policy, const Situation& situation,
                                        std::stop_token stop = {});
  /// Settles `claim`. Committed: settled. Conflict: superseded. Unknown, Unavailable: retry, or abandon().
  CommitResult settle(const Claim& claim, const ActReport& report, std::stop_token stop = {});
  /// Ends this process's work on `claim`, so that its own take_over() need not wait for the claim's timeout.
  /// Has no effect on its work on a later claim of the action.
  void abandon(const Claim& claim);
  /// Takes over the claim of the action if that is due, with a new epoch; returns nullopt if it is not, or if
  /// the store did not do it.
  std::optional<Claim> take_over(const ActionPolicy& policy, std::stop_token stop = {});
  /// Removes what claims recorded about former members.
  CommitResult tidy(std::string_view action, std::stop_token stop = {});

  /// Takes over and resolves a claim that is due; otherwise claims, acts and settles if the gate is open. An
  /// instance whose callbacks throw twice in a row leaves the action to the others for two claim timeouts,
  /// because it may be the only one cut off from the shared system. `take_lock` is called when the gate is
  /// open and the policy needs a lock that is not held; if it returns true, the claim is tried once more.
  StepReport step(const ActionPolicy& policy, const Situation& situation, const ActionCallbacks& callbacks,
                  const std::function<bool(std::stop_token)>& take_lock = {}, std::stop_token stop = {});

  /// Returns the verdict of the gate without claiming, for shadow mode and for people. Throws as
  /// Ledger::view().
  Verdict evaluate(const ActionPolicy& policy, const Situation& situation, std::stop_token stop = {});

 private:
  Transacted transact_arbiter(const TransactBody& body, const std::stop_token& stop)
      EVENKEEL_REQUIRES(transacting_);
  /// Sets `claim` if the claim of the action was due and has been taken over.
  Transacted take_over(const ActionPolicy& policy, std::optional<Claim>& claim, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(transacting_);
  Claimant claimant(const View& view);
  void begin(const Claim& claim);
  StepReport attempt(const ActionPolicy& policy, const Situation& situation, const ActionCallbacks& callbacks,
                     const std::function<bool(std::stop_token)>& take_lock, const std::stop_token& stop);
  StepReport finish(StepReport report, const std::function<ActReport(const Claim&, std::stop_token)>& ask,
                    Duration timeout, const std::stop_token& stop);
  void note_success(const std::string& action);
  void note_failure(const std::string& action, Duration timeout);
  std::optional<StepReport> resting(const std::string& action);

  struct Failures {
    unsigned count = 0;  // consecutive failures of callbacks
    TimePoint rest_until = TimePoint::min();
  };
  Ledger& ledger_;
  const ActionClaimsOptions options_;
  Mutex transacting_;  // one transaction at a time per token key
  Mutex mutex_;
  std::map<std::string, std::uint64_t> acting_ EVENKEEL_GUARDED_BY(mutex_);  // action -> epoch of its claim
  std::map<std::string, Failures> failures_ EVENKEEL_GUARDED_BY(mutex_);
};

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
