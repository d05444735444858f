// SPDX-License-Identifier: Apache-2.0
// Several instances on one store, in virtual time, with faults chosen by a seed: lost, late and refused
// commits, partitions, crashes, pauses, denials, mode changes, wall clocks that differ by a minute. After
// every applied commit the invariants of coordination are checked against a model that knows the true time
// and the writer of each key.
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

/// An event. The meaning of `who` and `what` depends on the kind; both are taken modulo the number of
/// candidates.
struct Event {
  enum class Kind : std::uint8_t {
    wait,     // `what` tenths of a second pass
    need,     // unit `what` of `who` needs a restart (again)
    prepare,  // ... is prepared for it
    remove,   // ... no longer exists
    refresh,  // `who` reads the state of its units
    pass,     // `who` renews its record and publishes its state
    decide,   // `who` takes over an overdue claim, or claims
    act,      // `who` acts for its claim
    settle,   // `who` settles its claim
    drop,     // `who` forgets its claim, but keeps running
    crash,    // the process of `who` dies, and another one starts
    pause,    // `who` stands still for `what` seconds
    faults,   // commits of `who` fail at random from now on
    heal,     // ... no longer, and it is not cut off
    cut,      // `who` cannot reach the store
    deny,     // `who` is put on the deny list
    allow,    // ... and removed from it
    mode,     // `who` uses mode `what` from now on
    rename,   // `who` restarts with its other scope, and may die during the move, for a long time
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
  std::size_t units = 4;  ///< Units of each instance.
  bool needs_lock = false;
  bool ready_subset = false;  ///< Barrier::ready_subset instead of all_ready.
  bool renames = true;        ///< Includes renames in plan().
  bool interleaved = true;    ///< Other instances may commit between an instance's decision and its commit.
  /// Moves scopes in several commits, although the store could do it at once.
  bool pieces = false;
  /// Returns a fresh store, and the same one for each call with the root of one run.
  std::function<std::shared_ptr<Store>(const std::string& root)> open = {};
  std::string root = "/sim";
};

/// Statistics, which show that a run covered what it is meant to cover.
struct Figures {
  std::size_t commits = 0;
  std::size_t conflicts = 0;
  std::size_t unknowns = 0;
  std::size_t claims = 0;
  std::size_t without_denied = 0;  ///< ... that left out members of a denied scope.
  std::size_t take_overs = 0;
  std::size_t moves = 0;       ///< Scopes that were moved, in one transaction or in pieces.
  std::size_t cut_moves = 0;   ///< Movers that died before, between or after these commits.
  std::size_t amid_moves = 0;  ///< Claims during a move whose mover had been dead for long.
  std::size_t superseded = 0;  ///< Claims that were settled too late, after a take-over.
  std::size_t kills = 0;       ///< Calls that the shared system executed.
  std::size_t fenced = 0;      ///< ... that it refused because of their epoch.
  std::size_t restarted = 0;   ///< Restarted units.
  std::size_t late = 0;        ///< Commits that were applied after their answer was lost.
};

struct Outcome {
  /// The first violated invariant, with the preceding events; unset: there was none.
  std::optional<std::string> violation = {};
  Figures figures = {};
  std::vector<std::string> kills = {};  ///< "epoch 3 by dc1: dc1/u-0 dc10/u-2": the same on every store.
};

/// Returns a random sequence of events for the seed.
std::vector<Event> plan(const Options& options, std::size_t count);
/// Runs the events; then heals everything and checks that all needed actions are done.
Outcome run(const Options& options, const std::vector<Event>& events);
/// Shrinks a failing sequence to fewer events that still violate an invariant.
std::vector<Event> shrink(const Options& options, std::vector<Event> events);

}  // namespace evenkeel::coordination::simulation
