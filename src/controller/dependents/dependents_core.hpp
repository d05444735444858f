// SPDX-License-Identifier: Apache-2.0
// Decides which dependents of an object are applied and deleted next, and what the others wait for.
// Driver:
//  1. makes a core for each pass, with each dependent after those that it depends on;
//  2. does what next_step() returns, and reports it with exactly one call: on_decided() or on_unserved()
//     after decide, on_applied() or on_blocked() after apply, on_removed() after remove, on_failed() after
//     any of them;
//  3. reads status() when next_step() returns nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/controller/dependents_report.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// A dependent in the graph.
struct DependentInput {
  std::string name = {};
  std::vector<std::size_t> after = {};  ///< Positions of the dependents that it depends on, all before it.
};

enum class DependentCommand : std::uint8_t {
  decide,  ///< Ask the program if the dependent is to exist.
  apply,   ///< Apply its objects.
  /// Delete its objects: all if it is unwanted, otherwise those that were not applied.
  remove,
};

struct DependentStep {
  DependentCommand command = DependentCommand::decide;
  std::size_t dependent = 0;

  bool operator==(const DependentStep&) const = default;
};

enum class DependentPurpose : std::uint8_t {
  reconcile,
  clean_up,  ///< Every dependent is unwanted.
};

/// One pass over a graph of dependents.
/// - A dependent is unwanted if the program says so, if its kind is not served, or if one that it depends on
///   is unwanted.
/// - It is applied when all that it depends on are ready.
/// - If it is unwanted, it is deleted when all that depend on it are gone; after everything was applied, and
///   in the reverse order.
/// - A failure of the decision leaves its objects as they are.
/// Thread safety: one thread at a time.
class DependentsCore {
 public:
  explicit DependentsCore(std::vector<DependentInput> inputs,
                          DependentPurpose purpose = DependentPurpose::reconcile);

  std::optional<DependentStep> next_step();

  void on_decided(bool wanted);
  /// It is unwanted, and has no objects, as its kind is not served.
  void on_unserved(std::string why);
  /// Its objects are as declared.
  void on_applied(Readiness readiness);
  /// Nothing was applied, and `why` says what has to go before.
  void on_blocked(std::string why);
  /// `gone` says if objects are left. Those that an applied dependent leaves are not waited for.
  void on_removed(Readiness gone);
  void on_failed(std::string message);

  /// Returns state and message of a dependent.
  const DependentStatus& status(std::size_t dependent) const { return nodes_[dependent].status; }
  bool is_wanted(std::size_t dependent) const { return nodes_[dependent].wanted; }

 private:
  struct Node {
    std::vector<std::size_t> after;
    DependentStatus status;
    bool wanted = true;
    bool applied = false;
  };
  enum class Phase : std::uint8_t { decide, apply, remove, over };

  std::optional<DependentStep> next_decision();
  std::optional<DependentStep> next_apply();
  std::optional<DependentStep> next_removal();
  DependentStep issue(DependentCommand command, std::size_t dependent);
  Node& take(DependentCommand command);
  // Names of the dependents that `node` waits for; empty if it waits for none.
  std::string unready_before(const Node& node) const;
  std::string left_after(std::size_t dependent) const;

  std::vector<Node> nodes_;
  Phase phase_ = Phase::decide;
  std::size_t at_ = 0;  // dependents of the phase that are done with
  std::optional<DependentStep> issued_;
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
