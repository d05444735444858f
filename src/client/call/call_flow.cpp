// SPDX-License-Identifier: Apache-2.0
#include "client/call/call_flow.hpp"

#include "client/call/async_call.hpp"
#include "client/call/call_plan.hpp"
#include "client/call/chained_call.hpp"
#include "client/request/client_state.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

/// Kept alive by the request that is in flight.
class CallFlow : public std::enable_shared_from_this<CallFlow> {
 public:
  CallFlow(std::shared_ptr<ClientState> state, CallOptions options, std::shared_ptr<CallCore> core,
           std::function<void(const std::exception_ptr&)> done)
      : state_(std::move(state)),
        options_(within_one_deadline(*state_, std::move(options))),
        core_(std::move(core)),
        done_(std::move(done)) {}

  /// Sends the first request. Throws std::invalid_argument if that is not a request.
  std::shared_ptr<http::Call> start() {
    const std::shared_ptr<ChainedCall> handle = handle_;
    if (!send_next()) finish(nullptr);
    return handle;
  }

 private:
  /// Returns false if there is no further request.
  bool send_next() {
    const std::optional<RestRequest> request = core_->next_request();
    if (!request) return false;
    if (handle_->cancelled()) throw Cancelled(describe(*request) + ": cancelled");
    handle_->step([&] {
      return start_call(state_, *request, options_,
                        [self = shared_from_this()](Outcome<http::Response> outcome) {
                          self->on_outcome(std::move(outcome));
                        });
    });
    return true;
  }

  void on_outcome(Outcome<http::Response> outcome) {
    try {
      if (outcome.ok()) {
        core_->on_response(std::move(outcome).value());
      } else if (!core_->on_error(outcome.error())) {
        return finish(outcome.error());
      }
      if (send_next()) return;
    } catch (...) {
      return finish(std::current_exception());
    }
    finish(nullptr);
  }

  void finish(const std::exception_ptr& error) {
    // Before the completion: its callee may drop the client, and the transport's thread must not hold the
    // last reference then.
    state_.reset();
    options_ = {};
    core_.reset();
    const auto done = std::move(done_);
    done(error);
  }

  std::shared_ptr<ClientState> state_;
  CallOptions options_;
  std::shared_ptr<CallCore> core_;
  std::function<void(const std::exception_ptr&)> done_;
  const std::shared_ptr<ChainedCall> handle_ = std::make_shared<ChainedCall>();
};

}  // namespace

std::shared_ptr<http::Call> start_flow(std::shared_ptr<ClientState> state, const CallOptions& options,
                                       std::shared_ptr<CallCore> core,
                                       std::function<void(const std::exception_ptr&)> done) {
  return std::make_shared<CallFlow>(std::move(state), options, std::move(core), std::move(done))->start();
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
