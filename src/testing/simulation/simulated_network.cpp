// SPDX-License-Identifier: Apache-2.0
#include "testing/simulation/simulated_network.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "testing/simulation/simulated_exchange.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

bool SimulatedPort::ByNumber::operator()(const std::shared_ptr<SimulatedExchange>& left,
                                         const std::shared_ptr<SimulatedExchange>& right) const {
  return left->number() < right->number();
}

std::shared_ptr<http::Call> SimulatedPort::send(http::Request request, http::Completion completion) {
  const auto host = host_.lock();
  if (!host) throw TransportError(TransportErrorCode::closed, "the transport is closed");
  const auto exchange =
      std::make_shared<SimulatedExchange>(shared_from_this(), host, ++last_number_, std::move(request));
  open_.insert(exchange);
  exchange->begin(std::move(completion), nullptr);
  return exchange;
}

std::shared_ptr<http::Call> SimulatedPort::stream(http::Request request,
                                                  std::shared_ptr<http::StreamHandler> handler) {
  const auto host = host_.lock();
  if (!host) throw TransportError(TransportErrorCode::closed, "the transport is closed");
  const auto exchange =
      std::make_shared<SimulatedExchange>(shared_from_this(), host, ++last_number_, std::move(request));
  open_.insert(exchange);
  exchange->begin(nullptr, std::move(handler));
  return exchange;
}

void SimulatedPort::break_all(TransportErrorCode code, const std::string& reason) {
  for (const auto& exchange : open_) exchange->end_soon(exchange->error(code, reason));
}

bool SimulatedPort::is_behind() const {
  return std::any_of(open_.begin(), open_.end(), [](const auto& exchange) { return exchange->is_behind(); });
}

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
