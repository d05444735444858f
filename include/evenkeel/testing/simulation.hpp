// SPDX-License-Identifier: Apache-2.0
// Simulation of replicas of an operator with leader election, an API server and users, in one thread and
// virtual time, with faults of the network and of processes drawn from one seed.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/controller/controller_spec.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/testing/harness.hpp>
#include <evenkeel/testing/object.hpp>

namespace evenkeel {
inline namespace v0 {
namespace testing {

/// Rates of the faults of a simulation. All default to none.
struct SimulationRates {
  // ---- Probability at each request of a replica
  double lose_request = 0;  ///< It never arrives.
  double lose_answer = 0;   ///< It takes effect, and the answer never arrives.
  double refuse = 0;        ///< 429, 500 or 503 instead of the answer.
  double slow = 0;          ///< It or its answer takes up to a few seconds, each way.
  // ---- Probability at each write of a replica, Leases and Events not counted
  double pause_at_write = 0;  ///< The process is suspended after the write takes effect, before its answer.
  double crash_at_write = 0;  ///< The process ends before the write, or after it and before the answer.
  // ---- Probability at each piece of a list or watch
  double cut = 0;      ///< The connection breaks, at any byte of the piece.
  double silence = 0;  ///< From here on nothing arrives any more, and nothing is closed.
  // ---- Per hour and replica
  double crashes = 0;      ///< The process ends at once; another one starts after a while.
  double stops = 0;        ///< The process is stopped as by SIGTERM.
  double pauses = 0;       ///< The process is suspended, often until another replica has become the leader.
  double partitions = 0;   ///< Nothing arrives from or at the replica, for up to a minute.
  double breaks = 0;       ///< All connections of the replica break.
  double clock_jumps = 0;  ///< The wall clock is set forward or back, by up to two hours.
  // ---- In each process
  double drift = 0;  ///< Largest difference of the rate of its clock: 0.01 is one percent.
};

/// Leader election of the replicas.
enum class SimulatedElection : std::uint8_t {
  automatic,  ///< With more than one replica.
  on,
  off,
};

/// The process in which controllers are made.
struct SimulatedProcess {
  Client client;         ///< Client of the process, like Manager::client(): not guarded by leadership.
  std::string identity;  ///< "replica-1/2" for the second start of this replica.
  std::function<bool()> is_leader;
};

/// The cluster as its users see it; made by simulate(). Their requests are delayed like all others, but no
/// faults occur in them. Thread safety: one thread at a time. Lifetime: valid during the call of the
/// workload.
class EVENKEEL_API SimulatedCluster {
 public:
  SimulatedCluster(Client client, std::uint64_t seed);

  /// See create_objects().
  void create(const Objects& objects);
  /// See Harness::edit(), edit_status() and remove().
  template <ObjectType T, class Edit>
  Snapshot<T> edit(const ObjectKey& key, Edit edit) {
    return client().patch(client().get<T>(key), std::move(edit));
  }
  template <ObjectType T, class Edit>
  Snapshot<T> edit_status(const ObjectKey& key, Edit edit) {
    return client().patch_status(client().get<T>(key), std::move(edit));
  }
  template <ObjectType T>
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) {
    client().remove<T>(key, options);
  }
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) const {
    return client().find<T>(key);
  }
  template <ObjectType T>
  Snapshot<T> get(const ObjectKey& key) const {
    return client().get<T>(key);
  }
  template <ObjectType T>
  std::vector<Snapshot<T>> list(const ListOptions& options = {}) const {
    return client().list<T>(options).items;
  }

  /// Lets a random time pass, drawn from the seed, often too short for the operator to finish.
  void settle();
  void run_for(Duration time);
  /// Checks `condition` every half second until it is true; throws Error after `limit`.
  void wait_until(const std::function<bool()>& condition, Duration limit = std::chrono::minutes{30});

  const Client& client() const noexcept { return client_; }
  /// Time since the start of the simulation.
  Duration elapsed() const;

 private:
  const Client client_;
  const TimePoint start_;
  std::uint64_t random_;
};

struct SimulationOptions {
  std::uint64_t first_seed = 1;
  std::size_t seeds = 20;  ///< Number of runs, with `first_seed` and those that follow it; at least 1.
  std::size_t threads =
      1;  ///< Threads that run seeds. With more than one, the functions are called concurrently.
  std::size_t replicas = 3;  ///< Processes of the operator.
  SimulatedElection election = SimulatedElection::automatic;
  /// Durations of the election; name, namespace, identity, seed and on_new_holder are filled in.
  ElectionOptions lease = {};
  /// Time for which faults may continue after the end of the workload, in half of all runs.
  Duration storm = std::chrono::minutes{5};
  Duration limit = std::chrono::minutes{45};  ///< Time after the storm in which everything must settle.
  /// Rates of the faults. Unset: each seed draws its own rates, and some of them are zero.
  std::optional<SimulationRates> rates = {};
  /// Faults to leave out, by their names in SimulationRates: {"clock_jumps"}. The rates of the others are
  /// what they would be with them.
  std::vector<std::string> without = {};
  /// Other controllers and users, which run until everything has settled. They pass time with run_for() and
  /// wait_until(), which end them by an exception when the time has come.
  std::vector<std::function<void(SimulatedCluster&)>> others = {};
  /// Name, webhooks, conversions, reconcile_timeout, and the world in which each run begins; its other
  /// members do not apply.
  HarnessOptions harness = {};
  /// Resources that are not compared, in addition to Events and Leases: "pods", "demos.demo.evenkeel.dev".
  std::vector<std::string> ignored = {};
  /// Changes each object before it is compared, to remove what may differ, such as a counter of attempts.
  std::function<void(Json& object)> normalize = {};
  std::size_t max_failures = 3;  ///< Failed seeds that are kept with their trace; further ones are counted.
  std::size_t trace_lines = 60;  ///< Lines of a trace that are kept: the last ones before the first problem.
  bool whole_trace = false;      ///< Keep all lines, of runs that succeed too.
};

/// A run that broke an invariant.
struct SimulationFailure {
  std::uint64_t seed = 0;
  std::vector<std::string> problems = {};  ///< In the order of time; with it.
  std::string trace = {};                  ///< Lines before the first problem, see SimulationOptions.
};

/// The result of simulate().
struct SimulationResult {
  /// Problems of the run without any fault; no seed was run then.
  std::vector<std::string> reference = {};
  std::vector<SimulationFailure> failures = {};  ///< In the order of seeds.
  std::size_t seeds_run = 0;
  std::size_t seeds_failed = 0;
  /// Number of times that each fault occurred, by its name in SimulationRates, and the number of other
  /// events: "elections", "runs", "writes". Each fault that is not left out is listed, also with 0.
  std::map<std::string, std::uint64_t> fired = {};
  /// Equal for equal runs: the hash of all lines of all traces.
  std::uint64_t fingerprint = 0;
  std::string trace = {};   ///< That of the first seed, with SimulationOptions::whole_trace.
  Duration simulated = {};  ///< Virtual time of all runs together.
  Duration took = {};       ///< Real time.

  bool ok() const { return reference.empty() && seeds_failed == 0; }
  /// Returns the names of the faults that never occurred.
  EVENKEEL_API std::vector<std::string> never_fired() const;
  /// Returns the counts, and for each failure its problems, its trace, and the way to repeat it.
  EVENKEEL_API std::string describe() const;
};

namespace detail {
using SimulatedControllers = std::function<std::vector<ControllerSpec>(const SimulatedProcess&)>;
using SimulatedWorkload = std::function<void(SimulatedCluster&)>;
EVENKEEL_API SimulationResult simulate(const SimulatedControllers& make, const SimulatedWorkload& workload,
                                       const SimulationOptions& options);

template <class Made>
std::vector<ControllerSpec> as_specs(Made made) {
  if constexpr (std::convertible_to<Made, ControllerSpec>) {
    std::vector<ControllerSpec> specs;
    specs.emplace_back(std::move(made));
    return specs;
  } else {
    return made;
  }
}
}  // namespace detail

/// Runs an operator in simulated clusters. `make` returns its ControllerSpec, or a vector of several; it is
/// called for each start of a process, with or without a SimulatedProcess, and what it returns must not share
/// state with earlier results. `workload` creates, changes and deletes objects, in the role of users, and
/// lets time pass in between; at its end the objects must be such that the operator can do its work.
/// First a run without any fault is done, twice with different seeds; then each seed. All invariants of
/// docs/simulation.md are checked after every step, and at the end the objects are compared with those of the
/// run without faults. Equal arguments give equal results, except for `took`. Blocks until all seeds have
/// run. Thread safety: may be called concurrently. Throws std::invalid_argument for options out of range, and
/// what Harness() and Harness::add() throw.
template <class Make>
requires std::invocable<Make&> || std::invocable<Make&, const SimulatedProcess&> SimulationResult
simulate(Make make, std::function<void(SimulatedCluster&)> workload, const SimulationOptions& options = {}) {
  return detail::simulate(
      [make](const SimulatedProcess& process) {
        Make copy = make;
        if constexpr (std::invocable<Make&, const SimulatedProcess&>) {
          return detail::as_specs(copy(process));
        } else {
          static_cast<void>(process);
          return detail::as_specs(copy());
        }
      },
      workload, options);
}

}  // namespace testing
}  // namespace v0
}  // namespace evenkeel
