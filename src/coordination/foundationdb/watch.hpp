// SPDX-License-Identifier: Apache-2.0
// A watch of FoundationDB that is set again whenever it has fired.
#pragma once

#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include <evenkeel/coordination/store.hpp>

#include "coordination/foundationdb/transaction.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// Runs from the constructor on; destruction joins its thread, on which `hint` is called.
/// Lifetime: `database` must outlive it.
class FdbWatch final : public StoreWatch {
 public:
  FdbWatch(FDBDatabase* database, FoundationDbStoreOptions options, std::string key,
           std::function<void()> hint);
  ~FdbWatch() override;

 private:
  void run(const std::stop_token& stop);
  /// Gives a hint if the key has changed since the last look, and waits for its next change.
  void look_and_wait(const std::stop_token& stop);

  FDBDatabase* const database_;
  const FoundationDbStoreOptions options_;
  const std::string key_;
  const std::function<void()> hint_;
  std::optional<Version> seen_;  // the key's version at the last look; 0: absent
  std::jthread thread_;
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
