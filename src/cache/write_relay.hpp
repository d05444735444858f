// SPDX-License-Identifier: Apache-2.0
// The observer of the writes of a cache's clients.
#pragma once

#include <exception>
#include <functional>
#include <string_view>
#include <utility>

#include <evenkeel/base/log.hpp>

#include "cache/call_gate.hpp"
#include "client/request/write_observer.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Passes writes on to a function until it is closed.
class WriteRelay final : public WriteObserver {
 public:
  using Take = std::function<void(const ObservedWrite&)>;

  WriteRelay(Take take, Log log) : take_(std::move(take)), log_(std::move(log)) {}
  void on_write(const ObservedWrite& write) noexcept override {
    const CallGate::Pass pass(gate_);
    if (!pass) return;
    try {
      take_(write);
    } catch (const std::exception& error) {
      log_.warn("the cache cannot show a write before the watch delivers it",
                {{"call", describe(write.request)}, {"error", std::string_view(error.what())}});
    }
  }
  void close() { gate_.close(); }

 private:
  const Take take_;
  const Log log_;
  CallGate gate_{GateEntry::shared};
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
