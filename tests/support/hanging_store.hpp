// SPDX-License-Identifier: Apache-2.0
// A store that does not answer.
#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>

#include <evenkeel/base/error.hpp>
#include <evenkeel/coordination/store.hpp>

#include "await.hpp"

namespace evenkeel::tests {

/// Its snapshots end when they are cancelled. Thread safety: all members may be called concurrently.
class HangingStore final : public coordination::Store {
 public:
  std::string name() const override { return "hanging"; }
  coordination::Capabilities capabilities() const override { return {}; }
  coordination::Limits limits() const override { return {}; }
  std::unique_ptr<coordination::StoreSnapshot> snapshot(std::stop_token stop) override {
    ++begun;
    await("the end of the read", [&] { return stop.stop_requested(); });
    ++cancelled;
    throw Cancelled("stopped");
  }
  coordination::CommitResult commit(const coordination::Commit&, std::stop_token) override {
    return coordination::Unavailable{"hanging"};
  }

  std::atomic<int> begun = 0;  ///< Snapshots that were asked for.
  std::atomic<int> cancelled = 0;
};

}  // namespace evenkeel::tests
