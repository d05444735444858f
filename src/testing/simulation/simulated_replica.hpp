// SPDX-License-Identifier: Apache-2.0
// A process of the operator in a simulation: from its start until it has ended.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <evenkeel/cache/cache.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/election/elector.hpp>
#include <evenkeel/events/event_recorder.hpp>
#include <evenkeel/testing/simulation.hpp>
#include <evenkeel/workqueue/key_table.hpp>

#include "testing/simulation/simulated_host.hpp"
#include "testing/simulation/simulated_network.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct ReplicaOptions {
  std::size_t machine = 0;
  std::uint64_t seed = 1;
  bool elects = false;
  const SimulationOptions& simulation;
  std::function<std::vector<ControllerSpec>(const SimulatedProcess&)> make = {};
  /// Called with each exception of a reconcile that is not due to a request, except those at the end of the
  /// process.
  std::function<void(const std::string& text)> on_exception = {};
  /// Called when the process has to end by itself: leadership was lost, or a controller has failed.
  std::function<void()> on_exit = {};
};

/// Caches, controllers and an elector on one host, wired as a manager does it.
/// Thread safety: one thread at a time.
class SimulatedReplica final : public SimulatedHost {
 public:
  enum class State : std::uint8_t {
    running,
    draining,   // stopped: running reconciles complete
    resigning,  // the Lease is released
    ended,      // nothing runs any more
  };

  SimulatedReplica(const NetworkParts& parts, std::string name, std::shared_ptr<SimulatedClock> clock,
                   ReplicaOptions options);
  ~SimulatedReplica() override;

  /// Makes the controllers and begins. Not in the constructor, as transports refer to the host.
  void start();
  /// Stops as after SIGTERM: running reconciles may complete, then leadership is released.
  void stop();
  /// Ends at once.
  void kill() override;

  State state() const { return state_; }
  std::size_t machine() const { return options_.machine; }
  bool is_leader() const;
  /// Returns true if nothing is to be done before a new event arrives, or only later by keys that wait.
  bool is_settled(bool keys_may_wait) const;
  /// Breaks all connections.
  void break_connections();
  std::uint64_t runs() const { return runs_; }
  std::uint64_t terms() const { return terms_; }

 protected:
  bool work() override;
  std::optional<TimePoint> next_work() const override;
  void on_turn() override;

 private:
  class CacheAudit;

  std::shared_ptr<SimulatedPort> port(bool needs_lease);
  Client client(const std::shared_ptr<SimulatedPort>& port, std::uint64_t seed) const;
  void make_caches();
  void make_controllers();
  void add(ControllerSpec spec, std::size_t number);
  void begin_election();
  Result reconcile(const ReconcileFunction& inner, const std::string& controller, Context& context);
  void wait_for_processor();
  void run_worker(Controller& controller, bool on_leader);
  bool may_run(bool on_leader) const;
  std::string lease() const;
  std::uint64_t draw();

  const NetworkParts& parts_;
  const ReplicaOptions options_;
  SimulationRandom random_;
  State state_ = State::running;
  std::vector<std::shared_ptr<SimulatedPort>> ports_;
  KeyTable keys_table_;
  std::optional<Client> client_;      // of controllers
  std::optional<Client> everywhere_;  // of controllers that run on each replica, and of the cache
  std::unique_ptr<Elector> elector_;
  std::unique_ptr<Cache> cache_;
  std::unique_ptr<EventRecorder> events_;
  struct Hosted {
    std::unique_ptr<Controller> controller;
    bool on_leader = true;
  };
  std::vector<Hosted> controllers_;
  std::vector<Attachment> attachments_;
  bool leading_ = false;
  std::uint64_t term_ = 0;
  std::uint64_t runs_ = 0;
  std::uint64_t terms_ = 0;
  std::size_t running_ = 0;  // reconciles
  std::optional<TimePoint> drain_until_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
