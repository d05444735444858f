// SPDX-License-Identifier: Apache-2.0
// The headers that say who is calling, kept fresh.
#pragma once

#include <exception>
#include <memory>
#include <stop_token>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/cond_var.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {

/// How long somebody waits for a token.
struct TokenWait {
  std::stop_token stop = {};
  TimePoint deadline = TimePoint::max();
};

/// Thread safety: all members may be called concurrently. A file is read and a program run by one thread at a
/// time, without a lock held; the others wait for it, each as long as it wants to.
class Credentials {
 public:
  Credentials(const Config& config, std::shared_ptr<const Clock> clock);

  /// Adds Authorization and Impersonate headers. May read a file or run a program. Throws ConfigError where
  /// that fails, Cancelled and TransportError when `wait` is over.
  void dress(http::Headers& headers, const TokenWait& wait = {}) EVENKEEL_EXCLUDES(mutex_);
  /// Adds them if that needs neither; false: nothing was added.
  bool dress_at_once(http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);
  /// Whether there is a file or program to get another token from.
  bool refreshable() const { return !token_file_.empty() || !exec_.empty(); }
  /// After a 401: fetches the token again; true if it is another than `headers` carried.
  bool refresh(const http::Headers& headers, const TokenWait& wait = {}) EVENKEEL_EXCLUDES(mutex_);
  /// Has the next dress() fetch the token again, if it still is the one in `headers`. Does not block.
  void expire(const http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);

 private:
  struct Token {
    std::string text;
    TimePoint fresh_until;
  };
  std::string authorization(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void wait_for_other(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  void fetch(MutexLock& lock, const TokenWait& wait) EVENKEEL_NO_THREAD_SAFETY_ANALYSIS;
  std::string header() const EVENKEEL_REQUIRES(mutex_);
  Token read_token(const std::string& last) const;
  Token run_plugin(const TokenWait& wait) const;

  const std::shared_ptr<const Clock> clock_;
  const std::string token_file_;
  const ExecPlugin exec_;
  const std::string server_;
  const http::TlsOptions tls_;
  const std::string fixed_;  // what never changes: a basic or static bearer header, or ""
  http::Headers impersonate_;
  Mutex mutex_;
  std::string token_ EVENKEEL_GUARDED_BY(mutex_);  // from the file or the program
  TimePoint fresh_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
  CondVar changed_;  // a thread has fetched a token, or failed to
  bool is_fetching_ EVENKEEL_GUARDED_BY(mutex_) = false;
  std::exception_ptr failure_ EVENKEEL_GUARDED_BY(mutex_);  // of the program, which is not run again at once
  TimePoint failed_until_ EVENKEEL_GUARDED_BY(mutex_) = TimePoint::min();
};

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
