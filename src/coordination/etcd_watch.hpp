// SPDX-License-Identifier: Apache-2.0
// A watch of etcd that restarts whenever it ends, and calls a function when a key may have changed.
#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/coordination/store.hpp>

#include "coordination/etcd_client.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Runs from construction to destruction; the destructor joins the thread on which `hint` is called.
class EtcdWatch final : public StoreWatch {
 public:
  EtcdWatch(std::shared_ptr<EtcdClient> client, const KeyRange& range, std::function<void()> hint);
  ~EtcdWatch() override;

 private:
  class Stream;

  void run(const std::stop_token& stop);
  /// Runs one watch until the stream ends.
  void follow(const std::stop_token& stop);

  const std::shared_ptr<EtcdClient> client_;
  const std::string request_;
  const std::function<void()> hint_;
  std::jthread thread_;
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
