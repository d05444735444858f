// SPDX-License-Identifier: Apache-2.0
// Authentication headers and client certificate, kept up to date.
#pragma once

#include <exception>
#include <memory>
#include <stop_token>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/http/client_certificate.hpp>
#include <evenkeel/http/message.hpp>

#include "client/config/exec_plugin.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// Limits of a wait for a token.
struct TokenWait {
  std::stop_token stop = {};
  TimePoint deadline = TimePoint::max();
};

/// Credentials of a client. Thread safety: all members may be called concurrently. One thread at a time reads
/// a file or runs a program, without holding a lock; the others wait for it, each up to its own limit.
class Credentials {
 public:
  /// A certificate from a program is given to `config.tls.client_certificate`, unless that is null.
  Credentials(const Config& config, std::shared_ptr<const Clock> clock);

  /// Adds Authorization and Impersonate headers. May read a file or run a program. Throws ConfigError if that
  /// fails, Cancelled or TransportError when a limit of `wait` is reached.
  void add_to(http::Headers& headers, const TokenWait& wait = {}) EVENKEEL_EXCLUDES(mutex_);
  /// Adds the headers if that requires neither; returns false if nothing was added.
  bool try_add_to(http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);
  /// Returns true if there is a file or program to get another token from.
  bool refreshable() const { return !token_file_.empty() || !exec_.empty(); }
  /// Handles a 401: fetches token and certificate again; returns true if they differ from those of the
  /// request, which had `headers`. A certificate of the last second counts as another one, because the
  /// request may have been sent before it was there.
  bool refresh(const http::Headers& headers, const TokenWait& wait = {}) EVENKEEL_EXCLUDES(mutex_);
  /// Makes the next add_to() fetch token and certificate again if they are still those of the request, which
  /// had `headers`. Does not block.
  void expire(const http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Token {
    std::string text;
    TimePoint fresh_until;
    std::shared_ptr<const http::CertificatePair> certificate = {};
  };
  std::string authorization(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void wait_for_other(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void fetch(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  std::string header() const EVENKEEL_REQUIRES(mutex_);
  void take(Token token) EVENKEEL_REQUIRES(mutex_);
  bool is_recent() const EVENKEEL_REQUIRES(mutex_);
  Token read_token(const std::string& last) const;
  Token run_plugin(const TokenWait& wait) const;

  const std::shared_ptr<const Clock> clock_;
  const std::string token_file_;
  const ExecPlugin exec_;
  const ExecCluster cluster_;
  const std::string fixed_;  // a basic or static bearer header, or ""
  http::Headers impersonate_;
  Mutex mutex_;
  std::string token_ EVENKEEL_GUARDED_BY(mutex_);  // from the file or the program
  TimePoint fresh_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  // Time of the last change of the program's certificate, which the transport gets through cluster_.tls.
  TimePoint rotated_at_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  CondVar changed_;  // notified when a thread has fetched a token, or failed to
  bool is_fetching_ EVENKEEL_GUARDED_BY(mutex_) = false;
  // Error of the program, which is not run again immediately.
  std::exception_ptr failure_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint failed_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
