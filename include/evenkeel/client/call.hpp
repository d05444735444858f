// SPDX-License-Identifier: Apache-2.0
// Descriptions of calls: what is sent, and what the responses decode to. Client::run() sends one and blocks,
// Client::start() sends one and completes later.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/snapshot.hpp>
#include <evenkeel/base/export.hpp>
#include <evenkeel/client/rest_request.hpp>
#include <evenkeel/http/message.hpp>
#include <evenkeel/http/transport.hpp>

namespace evenkeel {
inline namespace v0 {

/// Called exactly once, on the transport's thread (or on the caller's, if no request was necessary); must
/// neither block nor throw.
template <class T>
using Completion = std::function<void(Outcome<T>)>;

/// Objects of a kind at one revision of the server.
template <class T>
struct List {
  std::vector<Snapshot<T>> items = {};
  std::string resource_version = {};  ///< A watch can start from here.
  std::string continue_token = {};    ///< Not empty: the list was limited and there are more objects.
};

/// A list whose items are not decoded yet. The texts are valid as long as `bodies` are.
struct RawList {
  std::vector<std::string_view> items = {};
  std::vector<std::shared_ptr<const std::string>> bodies = {};
  std::vector<std::size_t> ends = {};  ///< ends[i] is one past the last item of bodies[i].
  std::string resource_version = {};
  std::string continue_token = {};
};

/// Desired and observed replicas, for kinds with the scale subresource.
struct Scale {
  std::int64_t replicas = 0;         ///< Desired.
  std::int64_t status_replicas = 0;  ///< Observed.
  std::string selector = {};
  std::string resource_version = {};
  std::string uid = {};  ///< That of the object.
};

namespace detail {

/// The answer of a complete call.
struct CallAnswer {
  std::optional<http::Response> response = {};  // of the last request, if there is one
  RawList list = {};                            // of a list
  std::string what = {};                        // names the object, for errors
};

/// Decides the requests of one call.
/// Driver:
///  1. sends next_request(); if there is none, takes the answer: the call is complete;
///  2. calls on_response() with a response of status 2xx, which throws if the call fails by it, or on_error()
///     with anything else, and begins again at 1; if on_error() returns false, the call fails with that
///     error.
/// Thread safety: one thread at a time.
class EVENKEEL_API CallCore {
 public:
  virtual ~CallCore() = default;
  virtual std::optional<RestRequest> next_request() = 0;
  virtual void on_response(http::Response response) = 0;
  virtual bool on_error(const std::exception_ptr& error) = 0;
  virtual CallAnswer take_answer() = 0;
};

/// Returns the core of a call of one request.
EVENKEEL_API std::unique_ptr<CallCore> one_request(RestRequest request);
/// Returns the core of a call that is complete without a response if the object does not exist.
EVENKEEL_API std::unique_ptr<CallCore> one_request_or_absent(RestRequest request);

}  // namespace detail

/// A call of the API that has not been sent, and that returns a T. The functions in client/calls.hpp describe
/// the calls of Client; the second constructor describes any other. A call is sent once.
/// Thread safety: one thread at a time.
template <class T>
class ApiCall {
 public:
  using Decode = std::function<T(detail::CallAnswer&)>;

  ApiCall(std::unique_ptr<detail::CallCore> core, Decode decode)
      : core_(std::move(core)), decode_(std::move(decode)) {}
  /// A call of one request. `decode` gets a response of status 2xx; it may throw DecodeError.
  ApiCall(RestRequest request, std::function<T(http::Response)> decode)
      : ApiCall(detail::one_request(std::move(request)),
                [decode = std::move(decode)](detail::CallAnswer& answer) {
                  return decode(std::move(*answer.response));
                }) {}

 private:
  friend class Client;

  T result() {
    detail::CallAnswer answer = core_->take_answer();
    return decode_(answer);
  }

  std::unique_ptr<detail::CallCore> core_;
  Decode decode_;
};

}  // namespace v0
}  // namespace evenkeel
