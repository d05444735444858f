// SPDX-License-Identifier: Apache-2.0
// Several instances on one store, in virtual time, with everything that can go wrong going wrong by seed:
// lost, late and refused commits, cuts, crashes, pauses, denials, changes of mode, clocks that disagree by a
// minute. After every commit that the store applies the invariants of the coordination are checked against a
// model that knows the true time and who wrote what.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel::coordination::simulation {

/// One thing that happens. What `who` and `what` mean is the kind's affair; both are taken modulo what there
/// is.
struct Event {
  enum class Kind : std::uint8_t {
    wait,     // `what` tenths of a second pass
    need,     // unit `what` of `who` needs a restart (again)
    prepare,  // ... is prepared for it
    remove,   // ... ceases to be
    refresh,  // `who` looks at its units
    pass,     // `who` renews its record and publishes what it knows
    decide,   // `who` takes over what is overdue, or claims
    act,      // `who` does what it has claimed
    settle,   // `who` says so
    drop,     // `who` forgets what it has claimed, but goes on living
    crash,    // the process of `who` dies, and another one begins
    pause,    // `who` stands still for `what` seconds
    faults,   // commits of `who` go wrong from now on
    heal,     // ... no more, and it is not cut off
    cut,      // `who` does not reach the store
    deny,     // `who` is put on the deny list
    allow,    // ... and off it
    mode,     // `who` works in mode `what` from now on
    rename,   // `who` begins anew with its other scope, and may die amid the move, for long
    count_
  };
  Kind kind = Kind::wait;
  std::uint32_t who = 0;
  std::uint32_t what = 0;
};
std::string text_of(const Event& event);

struct Options {
  std::uint64_t seed = 1;
  std::size_t instances = 3;
  std::size_t units = 4;  ///< Of each.
  bool needs_lock = false;
  bool ready_subset = false;  ///< Barrier::ready_subset instead of all_ready.
  bool renames = true;        ///< Whether plan() has them.
  bool interleaved = true;    ///< Others may come between an instance's decision and its commit.
  /// A scope is moved in pieces, although the store could do it at once.
  bool pieces = false;
  /// A fresh store, the same each time that it is called with one run's root.
  std::function<std::shared_ptr<Store>(const std::string& root)> open = {};
  std::string root = "/sim";
};

/// What happened, to see that a run met what it is for.
struct Figures {
  std::size_t commits = 0;
  std::size_t conflicts = 0;
  std::size_t unknowns = 0;
  std::size_t claims = 0;
  std::size_t without_denied = 0;  ///< ... that left out members of a denied scope.
  std::size_t take_overs = 0;
  std::size_t moves = 0;       ///< Scopes that were moved, in one transaction or in pieces.
  std::size_t cut_moves = 0;   ///< Movers that died before, between or after them.
  std::size_t amid_moves = 0;  ///< Claims while a move went on, whose mover had died for long.
  std::size_t superseded = 0;  ///< Settled too late: somebody had taken the claim over.
  std::size_t kills = 0;       ///< Calls of the shared system that it obeyed.
  std::size_t fenced = 0;      ///< ... that it refused for their epoch.
  std::size_t restarted = 0;   ///< Units.
  std::size_t late = 0;        ///< Commits that were applied after their answer was lost.
};

struct Outcome {
  /// The first invariant that did not hold, with what happened before; nothing: all of them held.
  std::optional<std::string> violation = {};
  Figures figures = {};
  std::vector<std::string> kills = {};  ///< "epoch 3 by dc1: dc1/u-0 dc10/u-2": the same on every store.
};

/// Events by the seed.
std::vector<Event> plan(const Options& options, std::size_t count);
/// Lets them happen; then heals everything and sees that all that is needed gets done.
Outcome run(const Options& options, const std::vector<Event>& events);
/// Fewer events, of which some invariant is still broken.
std::vector<Event> shrink(const Options& options, std::vector<Event> events);

}  // namespace evenkeel::coordination::simulation
