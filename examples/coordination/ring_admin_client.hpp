// SPDX-License-Identifier: Apache-2.0
// An AdminClient of the simulated database.
#pragma once

#include <chrono>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/coordination/process_groups/database.hpp>
#include <evenkeel/http/transport.hpp>

#include "ring_api.hpp"

namespace ek = evenkeel;
namespace ec = evenkeel::coordination;

struct RingAdminOptions {
  std::string url;  ///< URL of this caller's door.
  ek::Duration timeout = std::chrono::seconds{2};
  std::shared_ptr<const ek::Clock> clock = ek::real_clock();
};

/// Returns the connection string with the coordinators: "ring:10.0.0.1:4501,10.0.0.2:4501". Empty if there
/// are none.
std::string ring_connection_string(const std::vector<std::string>& coordinators);
/// Converts a status of the simulated database.
ec::DatabaseStatus database_status(const RingStatus& found);

/// Thread safety: all members may be called concurrently.
class RingAdminClient final : public ec::AdminClient {
 public:
  explicit RingAdminClient(RingAdminOptions options);

  ec::DatabaseStatus status(std::stop_token stop = {}) override;
  void raise_fence(const ec::Fence& fence, std::stop_token stop = {}) override;
  void exclude(const std::vector<std::string>& targets, const ec::Fence& fence,
               std::stop_token stop = {}) override;
  void include(const std::vector<std::string>& targets, const ec::Fence& fence,
               std::stop_token stop = {}) override;
  void kill(const std::vector<std::string>& addresses, const ec::Fence& fence,
            std::stop_token stop = {}) override;
  std::string change_coordinators(const std::vector<std::string>& coordinators, const ec::Fence& fence,
                                  std::stop_token stop = {}) override;

 private:
  std::string send(ek::http::Request request, std::stop_token stop);
  void order(std::string_view path, const std::vector<std::string>& targets, const ec::Fence& fence,
             std::stop_token stop);

  RingAdminOptions options_;
  std::shared_ptr<ek::http::Transport> transport_;
};
