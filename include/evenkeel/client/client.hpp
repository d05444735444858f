// SPDX-License-Identifier: Apache-2.0
// API server client: typed reads and writes, blocking or with a completion.
#pragma once

#include <concepts>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <evenkeel/api/patch.hpp>
#include <evenkeel/api/resource.hpp>
#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/object_key.hpp>
#include <evenkeel/base/trace.hpp>
#include <evenkeel/client/call.hpp>
#include <evenkeel/client/calls.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/client/errors.hpp>
#include <evenkeel/client/options.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/transport.hpp>
#include <evenkeel/http/web_socket.hpp>

namespace evenkeel {
inline namespace v0 {

class EventLoop;
class RequestMeter;
class ResourceClient;
namespace detail {
class AsyncWatch;
class ClientState;
class DiscoveryState;
class WriteLog;
class WriteObservers;
class WriteSpans;
}

/// A handle to a server, an identity and the options bound by with(). Cheap to copy.
///
/// Blocking calls return the response, or throw: ApiError (the server rejected the request), TransportError
/// (no response), Cancelled (the bound stop token), DecodeError (a response that is not such an object),
/// std::invalid_argument (a key without a name, or without a namespace for a namespaced kind). Rejections and
/// broken connections are retried within the call's deadline if that is safe, see RetryOptions.
///
/// Each call has an asynchronous form: start() takes the description of the same name from client/calls.hpp
/// and a completion, and returns immediately; if a token has to be fetched first, another thread fetches it.
///
/// Writes never drop fields that a type does not declare: they are server-side apply or merge patches
/// computed from the object as read. Warnings of the server are logged, each distinct message once.
/// Thread safety: all members may be called concurrently.
/// Blocks: must not be called on the transport's thread, that is, in a completion. On a fiber
/// (ControllerOptions::in_flight) blocking calls suspend the fiber and leave its thread to others.
class EVENKEEL_API Client {
 public:
  /// Throws std::invalid_argument if `config.server` is not a URL.
  explicit Client(Config config, ClientOptions options = {});

  /// Returns a client that applies these options to every call.
  [[nodiscard]] Client with(CallOptions options) const;
  const CallOptions& call_options() const noexcept { return call_; }
  const Config& config() const noexcept;
  const std::shared_ptr<const Clock>& clock() const noexcept;
  const std::shared_ptr<http::Transport>& transport() const noexcept;
  /// The event loop that drives the client; null: threads of its own.
  const std::shared_ptr<EventLoop>& event_loop() const noexcept;
  const Log& log() const noexcept;
  /// Metrics of the requests of this client and its copies; see client/request_meter.hpp.
  const std::shared_ptr<RequestMeter>& meter() const noexcept;
  /// For controllers: the last writes of this client and its copies.
  const std::shared_ptr<detail::WriteLog>& writes() const noexcept;
  /// For caches: the observers of the writes of this client and its copies.
  const std::shared_ptr<detail::WriteObservers>& write_observers() const noexcept;
  /// Returns the tracer of ClientOptions; may be null.
  const std::shared_ptr<Tracer>& tracer() const noexcept;
  /// For controllers: the spans of the last writes of this client and its copies; null without a tracer.
  const std::shared_ptr<detail::WriteSpans>& write_spans() const noexcept;
  /// Returns a client for objects of one kind without a C++ type; see client/resource_client.hpp.
  ResourceClient resource(ResourceId id) const;

  // ---- Any call ----

  /// Sends the call; blocks until it is complete.
  template <class T>
  T run(ApiCall<T> call) const {
    drive(*call.core_);
    return call.result();
  }
  /// Sends the call, and returns a handle to cancel it. Only `done` reports errors.
  template <class T>
  std::shared_ptr<http::Call> start(ApiCall<T> call, std::type_identity_t<Completion<T>> done) const {
    const auto shared = std::make_shared<ApiCall<T>>(std::move(call));
    return start_core(std::shared_ptr<detail::CallCore>(shared, shared->core_.get()),
                      [shared, done = std::move(done)](const std::exception_ptr& error) {
                        if (error) return done(error);
                        done(outcome_of(*shared));
                      });
  }

  // ---- Reads ----

  /// Returns the object; throws ApiError if it does not exist.
  template <ObjectType T>
  Snapshot<T> get(const ObjectKey& key) const {
    return run(calls::get<T>(key));
  }
  /// Returns the object, or an empty snapshot if it does not exist. Throws ApiError if the server does not
  /// serve the kind.
  template <ObjectType T>
  Snapshot<T> find(const ObjectKey& key) const {
    return run(calls::find<T>(key));
  }
  /// Lists all objects that the options select, page by page. Consistent: all pages show the same revision;
  /// if that expires on the server in between, the whole list is read again in one request.
  template <ObjectType T>
  List<T> list(const ListOptions& options = {}) const {
    return run(calls::list<T>(options));
  }

  // ---- Writes ----

  /// Creates the object; if it has a generate_name instead of a name, the server chooses the name.
  template <ObjectType T>
  Snapshot<T> create(const T& object) const {
    return run(calls::create(object));
  }
  /// Replaces the whole object; fails with a conflict if it was written since it was read.
  template <ObjectType T>
  Snapshot<T> update(const T& object) const {
    return run(calls::update(object));
  }
  /// Sends the changes made by `edit`; sends no request if there are none. Fields that the type does not
  /// declare are preserved, also inside lists; a change that touches a list fails with a conflict if the
  /// object was written since it was read, and every change does if another object has its name now. The
  /// server ignores status changes for kinds with a status subresource.
  template <ObjectType T, class Edit>
  requires(!std::same_as<Edit, Patch>) Snapshot<T> patch(const Snapshot<T>& object, Edit edit)
  const { return run(calls::patch(object, std::move(edit))); }
  /// Sends `patch` as it is.
  template <ObjectType T>
  Snapshot<T> patch(const ObjectKey& key, Patch patch, const PatchOptions& options = {}) const {
    return run(calls::patch<T>(key, std::move(patch), options));
  }
  /// Patches only the status; like patch(), but `edit` gets a reference to the status. Plain members of the
  /// status count as set, even if the edit leaves them at their defaults: those missing on the server are
  /// sent along, once. Optional members are sent only if set.
  template <ObjectType T, class Edit>
  Snapshot<T> patch_status(const Snapshot<T>& object, Edit edit) const {
    return run(calls::patch_status(object, std::move(edit)));
  }
  /// Server-side apply: creates the object if it does not exist, and makes the bound field owner own exactly
  /// the fields set in `object`. An object with a uid is applied to the object with that uid only.
  template <ObjectType T>
  Snapshot<T> apply(const T& object, const ApplyOptions& options = {}) const {
    return run(calls::apply(object, options));
  }
  /// Like apply(), for the status only; no other part of `object` is sent.
  template <ObjectType T>
  Snapshot<T> apply_status(const T& object, const ApplyOptions& options = {}) const {
    return run(calls::apply_status(object, options));
  }

  /// Deletes the object; succeeds if it does not exist. The second form fails with a conflict if another
  /// object has its name now.
  template <ObjectType T>
  void remove(const ObjectKey& key, const DeleteOptions& options = {}) const {
    run(calls::remove<T>(key, options));
  }
  template <int = 0, ObjectType T>
  void remove(const T& object, const DeleteOptions& options = {}) const {
    run(calls::remove(object, options));
  }
  /// Deletes all objects that `which` selects, within one namespace for namespaced kinds.
  template <ObjectType T>
  void remove_all(const ListOptions& which, const DeleteOptions& options = {}) const {
    run(calls::remove_all<T>(which, options));
  }

  /// Reads or sets the desired number of replicas. The last form fails with a conflict if another object has
  /// the name of `object` now.
  template <ObjectType T>
  Scale scale(const ObjectKey& key) const {
    return run(calls::scale<T>(key));
  }
  template <ObjectType T>
  Scale scale(const ObjectKey& key, std::int64_t replicas) const {
    return run(calls::scale<T>(key, replicas));
  }
  template <int = 0, ObjectType T>
  Scale scale(const T& object, std::int64_t replicas) const {
    return run(calls::scale(object, replicas));
  }

  // ---- Untyped calls ----

  /// Sends the request with credentials, deadline and retries. Throws ApiError for any status other than 2xx.
  http::Response raw(const RestRequest& request) const;
  /// Starts a stream with credentials. A first 401 is repeated with new credentials if there are any; every
  /// other status is passed to the handler, and nothing else is retried. Of the bound options, only the
  /// deadline applies.
  std::shared_ptr<http::Call> stream(const RestRequest& request,
                                     std::shared_ptr<http::StreamHandler> handler) const;
  /// Opens a WebSocket with credentials, offering these subprotocols; the deadline, the timeout and the write
  /// guard that are bound apply until it is open. Throws ApiError if the server refuses it.
  std::unique_ptr<http::WebSocket> open_web_socket(const RestRequest& request,
                                                   const std::vector<std::string>& protocols) const;
  /// Asynchronous form of open_web_socket(). A refusal is passed to the handler, which is not called within
  /// this call; nothing is retried. Blocks: while a token has to be fetched, unless the client has an event
  /// loop.
  std::shared_ptr<http::WebSocketCall> start_web_socket(
      const RestRequest& request, const std::vector<std::string>& protocols,
      std::shared_ptr<http::WebSocketHandler> handler) const;
  /// Waits for `delay`, changed by a random fraction of up to `jitter`; throws Cancelled if the bound stop
  /// token is triggered, and TransportError with `timeout` if the bound deadline would pass.
  void pause(Duration delay, double jitter = 0) const;

 private:
  friend class detail::AsyncWatch;
  friend class detail::DiscoveryState;

  Client(std::shared_ptr<detail::ClientState> state, CallOptions call);

  void drive(detail::CallCore& core) const;
  http::Response raw_on_fiber(const RestRequest& request) const;
  std::shared_ptr<http::Call> start_core(std::shared_ptr<detail::CallCore> core,
                                         std::function<void(const std::exception_ptr&)> done) const;

  template <class T>
  static Outcome<T> outcome_of(ApiCall<T>& call) {
    try {
      return call.result();
    } catch (...) {
      return std::current_exception();
    }
  }

  std::shared_ptr<detail::ClientState> state_;
  CallOptions call_;
};

}  // namespace v0
}  // namespace evenkeel
