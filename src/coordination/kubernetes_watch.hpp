// SPDX-License-Identifier: Apache-2.0
// Runs a thread that calls a function whenever an object of the Kubernetes store changes.
#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

#include <evenkeel/base/time.hpp>
#include <evenkeel/client/client.hpp>
#include <evenkeel/coordination/store.hpp>

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Runs from construction to destruction; the destructor joins the thread on which `hint` is called.
class KubernetesWatch final : public StoreWatch {
 public:
  KubernetesWatch(Client client, std::string namespace_name, std::string selector, Duration retry,
                  std::function<void()> hint);
  ~KubernetesWatch() override = default;

 private:
  void run(const std::stop_token& stop) const;
  /// Runs one watch until it is refused.
  void follow(const std::stop_token& stop) const;

  const Client client_;
  const std::string namespace_;
  const std::string selector_;
  const Duration retry_;
  const std::function<void()> hint_;
  std::jthread thread_;
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
