// SPDX-License-Identifier: Apache-2.0
// Decides whether an action may be done now, and to which targets. The decision is a pure function of a view
// of all instances, a policy and the time, without clock and store; it returns a verdict with its reason.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/identity.hpp>
#include <evenkeel/coordination/store.hpp>
#include <evenkeel/coordination/view.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination {

/// The units that an action waits for.
enum class Barrier : std::uint8_t {
  all_ready,     ///< Waits until all pending units are ready.
  ready_subset,  ///< Like all_ready, but acts on the ready units alone after straggler_timeout without a new
                 ///< member.
  none,          ///< Does not wait: acts on all pending units.
};
/// The groups to which the barrier and the quiet window apply separately.
enum class Partition : std::uint8_t {
  all,      ///< All units form one group.
  by_kind,  ///< One group for each kind (for instance a process class); groups that may proceed do so
            ///< together.
};
/// The treatment of members whose instance is silent or not registered (see Liveness).
enum class SilentMembers : std::uint8_t {
  leave_out,      ///< The action does not wait for them and does not act on them.
  take_if_ready,  ///< The action does not wait for them; it acts on those that are ready.
  block,          ///< They count like all others: a dead instance blocks the action without end.
};
/// The treatment of members whose scope is on the deny list (see DenyList) while its instance is live.
enum class DeniedMembers : std::uint8_t {
  leave_out,      ///< The action does not wait for them and does not act on them: an instance that is not
                  ///< trusted to act is not trusted to publish what others should do, either.
  take_if_ready,  ///< The action does not wait for them; it acts on those that are ready.
  block,          ///< They count like all others: a denied instance blocks the action while it is not ready.
};

/// The rules by which the gate decides about one action.
struct ActionPolicy {
  std::string action = {};  ///< The name, for instance "restart"; see pending_set().
  Barrier barrier = Barrier::all_ready;
  Partition partition = Partition::all;
  SilentMembers silent = SilentMembers::leave_out;
  DeniedMembers denied = DeniedMembers::leave_out;
  /// The action waits until no member has been added to pending or ready for this long. >= 0.
  Duration quiet_window = std::chrono::seconds{30};
  /// For Barrier::ready_subset: the time since the last member was added. At least 5 quiet windows.
  Duration straggler_timeout = std::chrono::minutes{5};
  /// Minimum time between the last disruption of the shared system and this action. >= 0.
  Duration minimum_spacing = {};
  std::size_t batch_limit = 0;  ///< Maximum number of targets, in the order of scope and unit; 0: no limit.
  bool needs_lock = true;       ///< Only the holder of the lock may claim.
  /// Another instance may take over a claim that has not been settled for this long. > 0; must be longer than
  /// acting takes.
  Duration claim_timeout = std::chrono::minutes{2};
};
/// Validates the bounds above. Throws std::invalid_argument, which names the member.
EVENKEEL_API void check(const ActionPolicy& policy);

/// The knowledge of the calling instance in addition to the view.
struct Situation {
  std::string scope = {};  ///< The scope of the calling instance.
  Mode mode = Mode::global;
  /// When the shared system was last disrupted, by any instance, as reported by that system (for instance now
  /// - uptime at its last recovery). Unset: unknown; minimum_spacing then counts from the newest settled
  /// claim of this action, if there is one.
  std::optional<TimePoint> last_disruption = {};
};

/// A unit to act on.
struct Target {
  UnitRef ref = {};
  std::string kind = {};
  Version since = 0;
  std::vector<std::string> facts = {};

  friend bool operator==(const Target&, const Target&) = default;
};

/// The verdict that the action may be done now, to these targets.
struct Proceed {
  /// Units of all instances, in the order of scope and unit. Never empty, unless the view was not whole
  /// (View::whole): then the units are only counted.
  std::vector<Target> targets;
  bool partial = false;   ///< Other units are pending and stay so.
  std::size_t units = 0;  ///< The number of targets.
};
/// The verdict that only time has to pass.
struct WaitUntil {
  TimePoint until;
  std::string why;
};
/// The verdict that something has to change first.
struct Blocked {
  /// Units that are not ready, the first most_missing_names of each scope; an empty unit name means the scope
  /// itself.
  std::vector<UnitRef> who;
  std::string why;
  /// When the passage of time alone may change the verdict (an instance becomes silent, stragglers are left
  /// behind).
  std::optional<TimePoint> until = {};
  std::map<std::string, std::size_t> not_ready = {};  ///< The number of units that are not ready, by scope.
};
/// The verdict that no unit needs the action.
struct Nothing {};

/// A scope whose members did not count, and the reason: "silent for 61s", "works in mode local", "on the deny
/// list".
struct LeftOut {
  std::string scope;
  std::string why;

  friend bool operator==(const LeftOut&, const LeftOut&) = default;
};

/// The decision of the gate.
struct Verdict {
  std::variant<Nothing, Proceed, WaitUntil, Blocked> outcome = Nothing{};
  /// In the order of scopes. A scope without members in the action's sets is listed only if its instance is
  /// in another mode.
  std::vector<LeftOut> left_out = {};

  const Proceed* proceed() const noexcept { return std::get_if<Proceed>(&outcome); }
  const WaitUntil* wait() const noexcept { return std::get_if<WaitUntil>(&outcome); }
  const Blocked* blocked() const noexcept { return std::get_if<Blocked>(&outcome); }
  bool nothing() const noexcept { return std::holds_alternative<Nothing>(outcome); }
};

/// Evaluates the gate. The first of these that applies determines the verdict: the own scope is denied; a key
/// cannot be decoded; a claim of the action is executing; a scope is being moved in several commits, and has
/// been for less than the silence time; nothing is pending; the quiet window; the barrier; the spacing.
/// Members of scopes in another mode are left out: local and shadow instances act alone, so a global instance
/// counts only global scopes, and a shadow instance counts shadow and global ones. Members of silent and of
/// denied scopes are treated as the policy says. Consumed members do not count. The verdict of a view that is
/// not whole is that of the whole view, except that Proceed has no targets, and that members which cannot be
/// decoded or are ready without being pending are not noticed. Pure. Source:
/// fdb-kubernetes-operator internal/coordination AllProcessesReady, AllProcessesReadyForExclusion, and their
/// texts. Deviations: time is observed, and instances that are gone are left out.
EVENKEEL_API Verdict evaluate(const View& view, const ActionPolicy& policy, const Situation& situation,
                              TimePoint now);

/// Describes a verdict for logs and conditions: "waits until 12s from now: last pending process group was
/// added: 18s ago, ...", "blocked: not all processes are ready: dc3-log-1; dc3 is silent for 41s".
EVENKEEL_API std::string describe(const Verdict& verdict, const View& view, TimePoint now);

}  // namespace coordination
}  // namespace v0
}  // namespace evenkeel
