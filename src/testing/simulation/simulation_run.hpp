// SPDX-License-Identifier: Apache-2.0
// One run of a simulation: from its seed to its end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <evenkeel/apiserver/api_server_core.hpp>
#include <evenkeel/testing/simulation.hpp>

#include "testing/explore/end_state.hpp"
#include "testing/simulation/network_core.hpp"
#include "testing/simulation/simulated_network.hpp"
#include "testing/simulation/simulated_replica.hpp"
#include "testing/simulation/simulated_server.hpp"
#include "testing/simulation/simulation_audit.hpp"
#include "testing/simulation/simulation_trace.hpp"
#include "testing/simulation/storm_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// The parts that all runs have in common. Lifetime: outlives them.
struct SimulationSetup {
  const SimulationOptions& options;
  const SimulatedControllers& make;
  const SimulatedWorkload& workload;
  apiserver::World world;  ///< With the definitions of the kinds.
  std::map<std::string, std::string> watched =
      {};  ///< Paths of the collections that caches hold, by resource.
  /// Exceptions of reconciles without any fault.
  std::set<std::string> exceptions = {};
};

/// The facts about a run.
struct SimulationRecord {
  std::vector<std::string> problems = {};
  EndState end = {};
  std::set<std::string> exceptions = {};
  SimulatedFaultCounts faults = {};
  std::uint64_t runs = 0;
  std::uint64_t writes = 0;  ///< Changes of objects other than Leases and Events.
  std::uint64_t elections = 0;
  Duration simulated = {};
  std::uint64_t fingerprint = 0;
  std::string trace = {};
};

/// Thread safety: one thread at a time.
class SimulationRun {
 public:
  SimulationRun(const SimulationSetup& setup, std::uint64_t seed, bool stormy);
  ~SimulationRun();

  /// Runs it; once.
  SimulationRecord run();

 private:
  enum class Phase : std::uint8_t { storm, calm, shutdown, over };
  struct Machine {
    std::shared_ptr<SimulatedReplica> process = {};
    std::size_t starts = 0;
    Duration down_for = {};  // after a stop
  };

  bool elects() const;
  void start_process(std::size_t machine);
  void start_users();
  void retire(std::size_t machine, Duration down_for);
  void crash(std::size_t machine);
  void pause(std::size_t machine, Duration length);
  void plan_strike();
  void strike(const Strike& strike);
  void after_step();
  void check_leaders();
  void on_exception(const std::string& text);
  Duration rest_of_storm();
  void look();
  void begin_calm();
  bool is_settled() const;
  void check_limit();
  void begin_shutdown();
  void end_all();
  void note(const std::string& who, const std::string& what);
  EndState end_state_now() const;

  const SimulationSetup& setup_;
  const SimulationOptions& options_;
  const bool stormy_;
  SimulationRandom random_;
  const SimulationRates rates_;
  Schedule schedule_;
  SimulationTrace trace_;
  SimulationAudit audit_;
  NetworkCore network_;
  StormCore storm_;
  SimulatedServer server_;
  NetworkParts parts_;
  std::vector<Machine> machines_;
  std::vector<std::shared_ptr<SimulatedReplica>> ending_;
  std::vector<std::weak_ptr<SimulatedReplica>> processes_;  // all, until they are freed
  std::shared_ptr<SimulatedHost> users_;
  std::shared_ptr<SimulatedPort> users_port_;
  Phase phase_ = Phase::storm;
  Duration phase_begun_{};
  bool workload_done_ = false;
  std::optional<Duration> storm_until_;  // set when the workload has ended
  SimulatedFaultCounts strikes_;
  SimulationRecord record_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
