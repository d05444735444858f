// SPDX-License-Identifier: Apache-2.0
// Sends requests to the members of an etcd cluster: which one, with which token, and what became of it.
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

/// What became of one request.
struct EtcdAnswer {
  EtcdVerdict verdict = EtcdVerdict::ok;
  std::string body = {};  ///< If ok.
  std::string from = {};  ///< If ok: the endpoint and path, for errors.
  std::string why = {};   ///< If not.
  bool sent = false;      ///< Whether it can have reached a server.
};

/// What to say of a 200 whose body `error` is about.
std::string strange_answer(const EtcdAnswer& answer, const DecodeError& error);

/// Thread safety: all members may be called concurrently.
class EtcdClient {
 public:
  /// Throws std::invalid_argument for options out of their bounds.
  explicit EtcdClient(EtcdStoreOptions options);

  const EtcdStoreOptions& options() const { return options_; }

  /// Asks one endpoint after the other. Throws StoreUnavailable, SnapshotExpired; Cancelled.
  EtcdAnswer read(std::string_view path, const std::string& body, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  /// Sends something that must not be applied twice: once, and again only where nothing was done. Never
  /// throws.
  EtcdAnswer write(std::string_view path, const std::string& body, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  /// Begins a stream on the present endpoint. Throws StoreUnavailable; Cancelled.
  std::shared_ptr<http::Call> stream(std::string_view path, std::string body,
                                     std::shared_ptr<http::StreamHandler> handler,
                                     const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);
  /// After a stream went wrong: another endpoint next time, and another token.
  void distrust_stream() EVENKEEL_EXCLUDES(mutex_);

 private:
  std::size_t present() EVENKEEL_EXCLUDES(mutex_);
  /// Goes on to the endpoint after `failed`, unless somebody else has already.
  void leave(std::size_t failed) EVENKEEL_EXCLUDES(mutex_);
  /// Empty: none is needed. Throws StoreUnavailable; Cancelled.
  std::string token(const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);
  /// Forgets `used`, unless somebody else has already got another.
  void forget_token(const std::string& used) EVENKEEL_EXCLUDES(mutex_);
  http::Request request(std::string_view path, std::string body, const std::string& token) const;
  /// One request to one endpoint, without any second try but for a new token. Throws Cancelled if the stop
  /// came before anything was sent.
  EtcdAnswer ask(std::string_view path, const std::string& body, const std::stop_token& stop)
      EVENKEEL_EXCLUDES(mutex_);
  EtcdAnswer exchange(std::string_view path, const std::string& body, const std::string& token,
                      const std::stop_token& stop) EVENKEEL_EXCLUDES(mutex_);

  const EtcdStoreOptions options_;
  const std::vector<std::shared_ptr<http::Transport>> transports_;  // of the endpoints
  Mutex mutex_;
  std::size_t present_ EVENKEEL_GUARDED_BY(mutex_) = 0;
  std::optional<std::string> token_ EVENKEEL_GUARDED_BY(mutex_);  // empty text: authentication is off
};

}  // namespace coordination::detail
}  // namespace v0
}  // namespace evenkeel
