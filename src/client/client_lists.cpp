// SPDX-License-Identifier: Apache-2.0
// Paged lists.
#include <evenkeel/client/client.hpp>

#include "client/chained_call.hpp"
#include "client/list_core.hpp"

namespace evenkeel {
inline namespace v0 {
namespace {

/// State of an asynchronous list; kept alive by the running call.
struct ListFlow : std::enable_shared_from_this<ListFlow> {
  ListFlow(Client client_, const ResourceId& resource, const ListOptions& options, Completion<RawList> done_)
      : client(std::move(client_)), core(resource, options), done(std::move(done_)) {}

  void next() {
    if (handle->cancelled()) {
      return done(std::make_exception_ptr(Cancelled(describe(core.next_request()) + ": cancelled")));
    }
    handle->step([this] {
      return client.raw(core.next_request(), [self = shared_from_this()](Outcome<http::Response> outcome) {
        self->on_response(std::move(outcome));
      });
    });
  }

  void on_response(Outcome<http::Response> outcome) {
    if (!outcome.ok()) return core.on_error(outcome.error()) ? next() : done(outcome.error());
    try {
      if (!core.on_page(std::move(outcome).value())) return next();
    } catch (...) {
      return done(std::current_exception());
    }
    done(core.take_result());
  }

  const Client client;
  detail::ListCore core;
  const Completion<RawList> done;
  const std::shared_ptr<detail::ChainedCall> handle = std::make_shared<detail::ChainedCall>();
};

}  // namespace

RawList Client::list_raw(const ResourceId& resource, const ListOptions& options) const {
  detail::ListCore core(resource, options);
  for (;;) {
    try {
      if (core.on_page(raw(core.next_request()))) return core.take_result();
    } catch (const ApiError&) {
      if (!core.on_error(std::current_exception())) throw;
    }
  }
}

std::shared_ptr<http::Call> Client::list_raw(const ResourceId& resource, const ListOptions& options,
                                             Completion<RawList> done) const {
  const auto flow = std::make_shared<ListFlow>(*this, resource, options, std::move(done));
  const auto handle = flow->handle;
  flow->next();
  return handle;
}

}  // namespace v0
}  // namespace evenkeel
