// SPDX-License-Identifier: Apache-2.0
// Whether an action may be done now, and to what: a pure decision about what all instances said. No clock, no
// store: a view, a policy and the time go in, a verdict with its reason comes out.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/ledger.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// For whom an action waits.
enum class Barrier : std::uint8_t {
  all_ready,     ///< Until everything that is pending is ready.
  ready_subset,  ///< The same; but when nothing came for the straggler timeout, what is ready goes alone.
  none,          ///< For nobody: everything that is pending goes.
};
/// Within what the barrier and the quiet window are looked at.
enum class Partition : std::uint8_t {
  all,      ///< Everything together.
  by_kind,  ///< Each kind (for instance a process class) on its own; those that may go, go together.
};
/// What becomes of members whose instance is silent, or not registered (see Liveness).
enum class SilentMembers : std::uint8_t {
  leave_out,      ///< They hold up nobody, and nothing is done to them.
  take_if_ready,  ///< They hold up nobody; those that are ready are taken along.
  block,          ///< They count like all others: a dead instance holds up everybody for ever.
};
/// What becomes of members whose scope is on the deny list (see DenyList), while its instance lives.
enum class DeniedMembers : std::uint8_t {
  leave_out,      ///< They hold up nobody, and nothing is done to them: who is not trusted to act is not
                  ///< trusted to say what others shall do, either.
  take_if_ready,  ///< They hold up nobody; those that are ready are taken along.
  block,          ///< They count like all others: a denied instance holds up everybody while it is not ready.
};

struct ActionPolicy {
  std::string action = {};  ///< "restart": see pending_set().
  Barrier barrier = Barrier::all_ready;
  Partition partition = Partition::all;
  SilentMembers silent = SilentMembers::leave_out;
  DeniedMembers denied = DeniedMembers::leave_out;
  /// Nothing is done until for so long no member has come, to pending or to ready. >= 0.
  Duration quiet_window = std::chrono::seconds{30};
  /// For Barrier::ready_subset: since the last member came. At least 5 quiet windows.
  Duration straggler_timeout = std::chrono::minutes{5};
  /// Between the last disruption of the shared system and this action. >= 0.
  Duration minimum_spacing = {};
  std::size_t batch_limit = 0;  ///< Targets at once, in the order of scope and unit; 0: all.
  bool needs_lock = true;       ///< Claimed only by the holder of the lock.
  /// A claim that its owner has not settled after so long may be taken over. > 0; longer than acting takes.
  Duration claim_timeout = std::chrono::minutes{2};
};
/// Throws std::invalid_argument, naming the member, for a policy that breaks the bounds above.
EVENKEEL_API void check(const ActionPolicy& policy);

/// What the instance that asks knows besides the view.
struct Situation {
  std::string scope = {};  ///< Its own.
  Mode mode = Mode::global;
  /// When the shared system was last disturbed, by whomever, as far as it tells (for instance its last
  /// recovery, as now - uptime). Nothing: not known, and the spacing counts from the newest settled claim of
  /// this action, if there is one.
  std::optional<TimePoint> last_disruption = {};
};

/// Something to act on.
struct Target {
  UnitRef ref = {};
  std::string kind = {};
  Version since = 0;
  std::vector<std::string> facts = {};

  friend bool operator==(const Target&, const Target&) = default;
};

/// Go: with these, of all instances.
struct Proceed {
  std::vector<Target> targets;  ///< In the order of scope and unit; never empty.
  bool partial = false;         ///< Others are pending, and stay so.
};
/// Not yet: nothing but time is needed.
struct WaitUntil {
  TimePoint until;
  std::string why;
};
/// Not as things are.
struct Blocked {
  std::vector<UnitRef> who;  ///< Units that are not ready; a unit of "" is the scope itself.
  std::string why;
  /// When time alone may change it (an instance falls silent, stragglers are left behind); ask again by then.
  std::optional<TimePoint> until = {};
};
/// Nobody needs the action.
struct Nothing {};

/// A scope whose members did not count, and why: "silent for 61s", "works in mode local", "on the deny list".
struct LeftOut {
  std::string scope;
  std::string why;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

struct Verdict {
  std::variant<Nothing, Proceed, WaitUntil, Blocked> outcome = Nothing{};
  /// In the order of scopes; whoever has no members in the action's sets is not among them, unless it is in
  /// another mode.
  std::vector<LeftOut> left_out = {};

  const Proceed* proceed() const noexcept { return std::get_if<Proceed>(&outcome); }
  const WaitUntil* wait() const noexcept { return std::get_if<WaitUntil>(&outcome); }
  const Blocked* blocked() const noexcept { return std::get_if<Blocked>(&outcome); }
  bool nothing() const noexcept { return std::holds_alternative<Nothing>(outcome); }
};

/// Decides. In this order: the own scope is denied; something cannot be read; a claim of the action is being
/// executed; a scope is being moved in pieces, and has been for less than the time of silence; nothing
/// pending; the quiet window; the barrier; the spacing. Members of scopes in another mode are left out: local
/// ones act alone, and shadow ones too, so that only who is shadow counts shadow and global ones. Members of
/// silent and of denied scopes are treated as the policy says. Consumed members count no more. Source:
/// fdb-kubernetes-operator internal/coordination AllProcessesReady, AllProcessesReadyForExclusion, and their
/// texts; unlike them, time is observed, and instances that are gone are left out.
EVENKEEL_API Verdict evaluate(const View& view, const ActionPolicy& policy, const Situation& situation,
                              TimePoint now);

/// For logs and conditions: "waits until 12s from now: last pending process group was added: 18s ago, ...",
/// "blocked: not all processes are ready: dc3-log-1; dc3 is silent for 41s".
EVENKEEL_API std::string describe(const Verdict& verdict, const View& view, TimePoint now);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
