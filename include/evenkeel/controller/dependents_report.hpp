// SPDX-License-Identifier: Apache-2.0
// The states of an object's dependents after a pass, and the conditions of its status that show them.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/metadata.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/controller/result.hpp>

namespace evenkeel {
inline namespace v0 {

/// The readiness of an object, with a reason if it is not ready. Converts from bool, but not from text.
struct Readiness {
  template <std::same_as<bool> Bool>
  Readiness(Bool is_ready) : ready(is_ready) {}
  Readiness(bool is_ready, std::string why) : ready(is_ready), why_not(std::move(why)) {}

  bool ready = false;
  std::string why_not = {};  ///< Such as "1 of 3 replicas are available"; may be empty.
};

namespace detail {

/// Returns the status of an object, or null if it is optional and has no value.
template <class T>
requires requires(const T& object) {
  object.status;
}
const auto* status_of(const T& object) {
  if constexpr (requires { object.status.has_value(); }) {
    return object.status ? &*object.status : nullptr;
  } else {
    return &object.status;
  }
}

}  // namespace detail

/// Returns a Readiness that is false, with the reason for status and logs.
inline Readiness not_ready(std::string why_not) {
  return {false, std::move(why_not)};
}

enum class DependentState : std::uint8_t {
  ready,       ///< Its objects are as declared, and ready.
  not_ready,   ///< Its objects are as declared, but one is not ready.
  waiting,     ///< Not applied: another dependent must first become ready, or an old object be gone.
  not_wanted,  ///< It should not exist, and does not.
  deleting,    ///< It should not exist, but objects of it or of dependents after it still do.
  not_served,  ///< Left out because the server does not serve its kind. See only_if_served.
  failed,      ///< A function of the program or a request threw.
};
/// Returns "Ready", "NotReady", "Waiting", "NotWanted", "Deleting", "NotServed" or "Failed", as for
/// Condition::reason.
EVENKEEL_API std::string_view state_name(DependentState state) noexcept;

/// One dependent after a pass.
struct DependentStatus {
  std::string name = {};
  DependentState state = DependentState::waiting;
  std::string message = {};       ///< Why it is in this state; empty if it is ready or not wanted.
  std::size_t written = 0;        ///< Number of objects that the pass created or changed.
  std::size_t deleted = 0;        ///< Number of objects whose deletion the pass requested.
  std::exception_ptr error = {};  ///< If it failed.
  bool declared = true;           ///< False: no longer declared, but objects of it still exist.
  /// Time after which another pass is needed because no event reports the change. Zero: an event does.
  Duration recheck_after = Duration::zero();
};

/// Selection of the conditions that are written to the status of the owner.
enum class DependentConditions : std::uint8_t {
  none,
  summary,  ///< "Ready".
  each,     ///< "Ready", and one for each dependent: "ConfigReady" for "config". Without those that are not
            ///< wanted.
};

/// The result of Dependents::reconcile(). Failures of dependents are in it, not thrown: end a reconcile with
/// `return report.result();`. Thread safety: const members may be called concurrently.
class EVENKEEL_API DependentsReport {
 public:
  /// `owner` is for messages: "Website default/web".
  DependentsReport(std::string owner, std::vector<DependentStatus> dependents);

  /// Returns the dependents in the order of their declaration, then those that are not declared any more.
  const std::vector<DependentStatus>& dependents() const noexcept { return dependents_; }
  /// Throws std::invalid_argument, naming the dependents, if none has this name.
  const DependentStatus& at(std::string_view name) const;
  /// Returns true if every dependent is ready, not wanted or not served.
  bool ready() const noexcept { return first_problem() == nullptr; }
  /// Returns the dependent that is reported first: one that failed, otherwise the first that prevents
  /// ready(). Null if there is none.
  const DependentStatus* first_problem() const noexcept;
  /// Returns a condition of this type: "True", or "False" with the state of first_problem() as its reason and
  /// "workload: Deployment default/web: 1 of 3 replicas are available" as its message.
  Condition condition(std::string type = "Ready") const;
  /// Sets and removes conditions of a status; see DependentConditions. For Context::patch_status().
  void write_conditions(std::vector<Condition>& conditions, std::int64_t generation, WallTime now,
                        DependentConditions which = DependentConditions::summary) const;
  /// Returns the result of the reconcile. Without failures it is done(), because an event reports the change
  /// that a dependent waits for, or requeue_after() if a kind is not served. Otherwise throws Error, which
  /// names all failed dependents; the error of one of them is nested in it, a transient one if there is any.
  Result result() const;
  /// Returns a line for logs: "config: Ready; workload: NotReady: ...".
  std::string str() const;

 private:
  std::string owner_;
  std::vector<DependentStatus> dependents_;
};

namespace detail {
/// Returns "WebServerReady" for "web-server".
EVENKEEL_API std::string dependent_condition_type(std::string_view name);
}

}  // namespace v0
}  // namespace evenkeel
