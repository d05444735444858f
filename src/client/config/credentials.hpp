// SPDX-License-Identifier: Apache-2.0
// Authentication headers and client certificate, kept up to date.
#pragma once

#include <cstdint>
#include <exception>
#include <memory>
#include <stop_token>
#include <string>
#include <thread>

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

/// Credentials of a client. A file is read by one of the callers at a time, without holding a lock. A program
/// runs on a thread of its own with its own limit, so that a caller with less time does not end it for the
/// others; the destructor kills it. Callers wait for either, each up to its own limit, unless the credential
/// that they replace is still valid: then the program runs beside the calls, and one that fails is run again.
/// Thread safety: all members may be called concurrently.
class Credentials {
 public:
  /// A certificate from a program is given to `config.tls.client_certificate`, unless that is null.
  Credentials(const Config& config, std::shared_ptr<const Clock> clock);

  /// Adds Authorization and Impersonate headers. May read a file or wait for a program. Throws ConfigError if
  /// that fails, Cancelled or TransportError when a limit of `wait` is reached.
  void add_to(http::Headers& headers, const TokenWait& wait = {}) EVENKEEL_EXCLUDES(mutex_);
  /// Adds the headers if that requires neither; returns false if nothing was added. Starts a program whose
  /// credential is to be replaced soon.
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
    TimePoint fresh_until;  // when it is to be replaced
    TimePoint valid_until;  // until then it is used if that fails
    std::shared_ptr<const http::CertificatePair> certificate = {};
  };
  std::string authorization(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void wait_for_other(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void fetch_file(MutexLock& lock) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void fetch_from_program(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void start_program() EVENKEEL_REQUIRES(mutex_);
  void run_program(const std::stop_token& stop) noexcept EVENKEEL_EXCLUDES(mutex_);
  bool must_wait() const EVENKEEL_REQUIRES(mutex_);
  void discard() EVENKEEL_REQUIRES(mutex_) { fresh_until_ = valid_until_ = TimePoint::min(); }
  std::string header() const EVENKEEL_REQUIRES(mutex_);
  void take(Token token) EVENKEEL_REQUIRES(mutex_);
  bool is_recent() const EVENKEEL_REQUIRES(mutex_);
  Token read_token(const std::string& last) const;
  Token run_plugin(const std::stop_token& stop) const;

  const std::shared_ptr<const Clock> clock_;
  const std::string token_file_;
  const ExecPlugin exec_;
  const ExecCluster cluster_;
  const std::string fixed_;  // a basic or static bearer header, or ""
  http::Headers impersonate_;
  Mutex mutex_;
  std::string token_ EVENKEEL_GUARDED_BY(mutex_);  // from the file or the program
  TimePoint fresh_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  TimePoint valid_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  // Time of the last change of the program's certificate, which the transport gets through cluster_.tls.
  TimePoint rotated_at_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  CondVar changed_;  // notified when a thread has fetched a token, or failed to
  bool is_fetching_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::uint64_t runs_ EVENKEEL_GUARDED_BY(mutex_) = 0;  // of the program, ended
  // Error of its last run; null if that succeeded. It is not run again immediately.
  std::exception_ptr failure_ EVENKEEL_GUARDED_BY(mutex_);
  TimePoint failed_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  std::jthread program_ EVENKEEL_GUARDED_BY(mutex_);  // last: it is ended before the others are destroyed
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
