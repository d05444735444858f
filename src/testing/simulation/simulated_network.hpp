// SPDX-License-Identifier: Apache-2.0
// The transports of the processes of a simulation: requests and answers are events, as the network's core
// decides.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <set>
#include <string>

#include <evenkeel/http/transport.hpp>

#include "testing/simulation/network_core.hpp"
#include "testing/simulation/simulated_host.hpp"
#include "testing/simulation/simulated_server.hpp"
#include "testing/simulation/simulation_audit.hpp"
#include "testing/simulation/simulation_trace.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Parts of a run that its network connects. Lifetime: they outlive the network's exchanges.
struct NetworkParts {
  Schedule& schedule;
  NetworkCore& core;
  SimulatedServer& server;
  SimulationAudit& audit;
  SimulationTrace& trace;
  /// Ends the process on a machine.
  std::function<void(std::size_t machine)> crash = {};
  /// Lets it stand still.
  std::function<void(std::size_t machine)> pause = {};
};

/// Description of the process that a transport belongs to.
struct PortOptions {
  std::size_t machine = 0;
  std::function<std::uint64_t()> runs = {};  ///< Number of reconciles that it has begun.
  bool audited = false;                      ///< It is a replica.
  bool needs_lease = false;                  ///< Its writes are those of the leader.
  std::string lease = {};                    ///< Key of the Lease.
};

class SimulatedExchange;

/// The transport of a process. Each list or watch has a connection of its own, whose bytes arrive in order.
/// Other requests overtake each other.
/// Thread safety: one thread at a time.
class SimulatedPort final : public http::Transport, public std::enable_shared_from_this<SimulatedPort> {
 public:
  SimulatedPort(const NetworkParts& parts, const std::shared_ptr<SimulatedHost>& host, PortOptions options)
      : parts_(parts), host_(host), options_(std::move(options)) {}

  std::shared_ptr<http::Call> send(http::Request request, http::Completion completion) override;
  std::shared_ptr<http::Call> stream(http::Request request,
                                     std::shared_ptr<http::StreamHandler> handler) override;

  /// Ends all exchanges: the connections broke, or the process has ended.
  void break_all(TransportErrorCode code, const std::string& reason);
  /// Returns true while answers are awaited or streams run.
  bool is_busy() const { return !open_.empty(); }
  /// Returns true while a stream has not delivered what the server sent.
  bool is_behind() const;

 private:
  friend class SimulatedExchange;
  struct ByNumber {
    bool operator()(const std::shared_ptr<SimulatedExchange>& left,
                    const std::shared_ptr<SimulatedExchange>& right) const;
  };

  const NetworkParts& parts_;
  const std::weak_ptr<SimulatedHost> host_;
  const PortOptions options_;
  std::uint64_t last_number_ = 0;
  std::set<std::shared_ptr<SimulatedExchange>, ByNumber> open_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
