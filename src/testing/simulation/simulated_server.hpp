// SPDX-License-Identifier: Apache-2.0
// The API server of a simulation, and the observation of all that changes in it.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include <evenkeel/api/json.hpp>
#include <evenkeel/apiserver/in_process_transport.hpp>
#include <evenkeel/apiserver/shared_core.hpp>
#include <evenkeel/http/transport.hpp>

#include "testing/simulation/schedule.hpp"
#include "testing/simulation/simulated_clock.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Answers requests at once; the network delays the answers. Observed resources are watched from inside:
/// their changes are reported before a client can see them. Thread safety: one thread at a time. Lifetime:
/// the schedule outlives it.
class SimulatedServer {
 public:
  using OnChange = std::function<void(const std::string& resource, std::string_view type, Json object)>;

  SimulatedServer(Schedule& schedule, const apiserver::SharedCoreOptions& options, OnChange on_change);
  ~SimulatedServer();
  SimulatedServer(const SimulatedServer&) = delete;
  SimulatedServer& operator=(const SimulatedServer&) = delete;

  /// Observes a resource from now on; `collection` is the path of all its objects. Again: no effect.
  void observe(const std::string& resource, const std::string& collection);
  http::Response handle(const http::Request& request);
  std::shared_ptr<http::Call> stream(http::Request request, std::shared_ptr<http::StreamHandler> handler);
  /// Delivers what has become ready.
  void pump();
  const std::set<std::string>& observed() const { return observed_; }

 private:
  class Observer;
  void watch(const std::string& resource, const std::string& collection);
  void plan_timer();

  Schedule& schedule_;
  const OnChange on_change_;
  const std::shared_ptr<apiserver::SharedCore> core_;
  const std::shared_ptr<apiserver::InProcessTransport> streams_;
  std::set<std::string> observed_;
  bool ending_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
  Duration timer_at_ = Duration::max();
  const std::shared_ptr<const Clock> clock_;
};

/// Returns the path of the collection to which a request belongs: "/apis/apps/v1/deployments".
std::string collection_path(std::string_view target);

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
