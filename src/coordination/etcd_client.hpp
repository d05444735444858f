// SPDX-License-Identifier: Apache-2.0
// Sends requests to the members of an etcd cluster, and handles failover, authentication and outcomes.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/coordination/etcd_store.hpp>
#include <evenkeel/http/transport.hpp>

#include "coordination/etcd_wire.hpp"

namespace evenkeel {
inline namespace v0 {
namespace coordination::detail {

/// The result of one request.
struct EtcdAnswer {
  EtcdVerdict verdict = EtcdVerdict::ok;
  std::string body = {};  ///< If ok.
  std::string from = {};  ///< If ok: the endpoint and path, for errors.
  std::string why = {};   ///< If not ok: the reason.
  bool sent = false;      ///< True if the request may have reached a server.
};

/// Describes a response with status 200 whose body cannot be decoded.
std::string strange_answer(const EtcdAnswer& answer, const DecodeError& error);

/// A stream that was opened.
struct EtcdStream {
  std::shared_ptr<http::Call> call = {};
  std::size_t endpoint = 0;  ///< The index of its endpoint.
  std::string token = {};    ///< The token that it was opened with.
};

/// A client of the members of one cluster. Thread safety: all members may be called concurrently.
class EtcdClient {
 public:
  /// Throws std::invalid_argument for options out of their bounds.
  explicit EtcdClient(EtcdStoreOptions options);

  const EtcdStoreOptions& options() const { return options_; }

  /// Sends a read to one endpoint after the other. Throws StoreUnavailable, SnapshotExpired; Cancelled.
  EtcdAnswer read(std::string_view path, const std::string& body, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  /// Sends a request that must not be applied twice: retries only if nothing was done. Never throws.
  EtcdAnswer write(std::string_view path, const std::string& body, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  /// Opens a stream to the current endpoint. Throws StoreUnavailable; Cancelled.
  EtcdStream stream(std::string_view path, std::string body, std::shared_ptr<http::StreamHandler> handler,
                    const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);
  /// Called after `ended` has failed: the next one uses another endpoint and token.
  void distrust(const EtcdStream& ended) EVENKEEL_EXCLUDES(mutex_);

 private:
  std::size_t present() EVENKEEL_EXCLUDES(mutex_);
  /// Switches to the endpoint after `failed`, unless another thread has already.
  void leave(std::size_t failed) EVENKEEL_EXCLUDES(mutex_);
  /// Returns a token; empty if none is needed. Throws StoreUnavailable; Cancelled.
  std::string token(const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);
  /// Drops `used`, unless another thread has already replaced it.
  void forget_token(const std::string& used) EVENKEEL_EXCLUDES(mutex_);
  http::Request request(std::string_view path, std::string body, const std::string& token) const;
  /// Sends one request to one endpoint, and retries only to renew the token. Throws Cancelled if the stop
  /// came before anything was sent.
  EtcdAnswer ask(std::string_view path, const std::string& body, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  EtcdAnswer exchange(std::string_view path, const std::string& body, const std::string& token,
                      const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);

  const EtcdStoreOptions options_;
  const std::vector<std::shared_ptr<http::Transport>> transports_;  // one per endpoint
  Mutex mutex_;
  std::size_t present_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::optional<std::string> token_ EVENKEEL_GUARDED_BY(mutex_);  // empty string: authentication is off
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
