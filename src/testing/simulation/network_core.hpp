// SPDX-License-Identifier: Apache-2.0
// The decisions of a simulated network: when a message arrives, and what is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <evenkeel/base/time.hpp>
#include <evenkeel/testing/simulation.hpp>

#include "testing/simulation/fault_counts.hpp"
#include "testing/simulation/simulation_random.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

struct NetworkOptions {
  SimulationRates rates = {};
  std::size_t machines = 0;  ///< Those of the replicas: 0 and up. Others are never disturbed.
  /// Latency of a message that is not slow; drawn from the seed if both are 0.
  Duration least_latency = {};
  Duration most_latency = {};
  /// Longest time of any message on its way, so that an election can do with it.
  Duration slowest = std::chrono::milliseconds{3500};
  std::uint64_t seed = 1;
};

/// The fate of one request and its answer.
struct RequestFate {
  enum class Loss : std::uint8_t { none, request, answer };
  enum class Crash : std::uint8_t { none, before, after };
  Loss loss = Loss::none;
  bool broken = false;        ///< The client learns of the loss after `back`; otherwise it hears nothing.
  int refused = 0;            ///< Status that is sent instead of handling the request; 0: none.
  Crash crash = Crash::none;  ///< The process of the client ends instead of sending, or once it has effect.
  bool pause = false;         ///< The process of the client stands still once the request has effect.
  Duration there = {};
  Duration back = {};
};

/// The fate of a piece of a stream.
struct PieceFate {
  Duration delay = {};
  std::optional<std::size_t> cut_at = {};  ///< The connection breaks after this number of bytes.
  bool silent = false;                     ///< This piece and all later ones are lost.
};

/// Decides for each message. Times are those of the simulation, since its start.
/// Driver:
///  1. calls on_request() when a request leaves a machine, and does what its fate says;
///  2. calls on_answer() when the server has answered, and drops the answer if it returns false;
///  3. calls on_piece() for each piece of a stream that the server sends, and delivers the pieces of a
///     connection in their order;
///  4. calls cut_off() at the beginning of a partition, and calm() at the end of the storm.
/// Thread safety: one thread at a time.
class NetworkCore {
 public:
  explicit NetworkCore(const NetworkOptions& options);

  /// `writes`: it changes objects other than Leases and Events.
  RequestFate on_request(std::size_t machine, bool writes, Duration now);
  bool on_answer(std::size_t machine, Duration now);
  PieceFate on_piece(std::size_t machine, std::size_t bytes, Duration now);
  void cut_off(std::size_t machine, Duration until);
  /// Ends all faults.
  void calm();
  const SimulatedFaultCounts& counts() const { return counts_; }

 private:
  bool is_disturbed(std::size_t machine) const { return !calm_ && machine < until_.size(); }
  bool is_cut_off(std::size_t machine, Duration now) const {
    return is_disturbed(machine) && now < until_[machine];
  }
  Duration latency(bool may_be_slow);

  SimulationRates rates_;
  SimulationRandom random_;
  Duration least_;
  Duration most_;
  const Duration slowest_;
  std::vector<Duration> until_;  // end of the partition of each machine
  bool calm_ = false;
  SimulatedFaultCounts counts_;
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
