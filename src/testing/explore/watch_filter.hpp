// SPDX-License-Identifier: Apache-2.0
// A list or watch of the operator that can be withheld and is recorded.
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <evenkeel/http/transport.hpp>

#include "testing/explore/plan_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace testing::detail {

/// Returns the events of a watch, a line each, that are left if only the last state of each object is seen.
std::string merged_events(std::string_view events);

/// Passes a stream on, at once or after a window.
/// Thread safety: one thread at a time.
class WatchFilter final : public http::StreamHandler {
 public:
  enum class Content {
    list,
    list_and_events,  ///< A streaming list.
    events,
  };
  using Seen = std::function<void(const std::string& resource, std::string_view piece)>;

  WatchFilter(std::string resource, Content content, std::shared_ptr<http::StreamHandler> inner,
              std::function<bool()> withheld, Seen seen)
      : resource_(std::move(resource)),
        inner_(std::move(inner)),
        withheld_(std::move(withheld)),
        seen_(std::move(seen)),
        content_(content) {}

  void on_response(int status, const http::Headers& headers) override {
    inner_->on_response(status, headers);
  }
  void on_data(std::string_view piece) override {
    if (!keeps_back()) return deliver(piece);
    kept_ += piece;
  }
  // The next watch begins where the events of this one have arrived, and so has the withheld ones again.
  void on_end(std::exception_ptr error) override {
    kept_.clear();
    inner_->on_end(std::move(error));
  }

  const std::string& resource() const { return resource_; }
  /// Delivers what was withheld.
  void release(WithheldDelivery delivery);

 private:
  // The first state is delivered always: without it, a controller would not begin.
  bool keeps_back() const { return content_ == Content::events && (withheld_() || !kept_.empty()); }
  void deliver(std::string_view piece);

  const std::string resource_;
  const std::shared_ptr<http::StreamHandler> inner_;
  const std::function<bool()> withheld_;
  const Seen seen_;
  Content content_;
  std::string kept_;  // events that are withheld
};

}  // namespace testing::detail
}  // namespace v0
}  // namespace evenkeel
