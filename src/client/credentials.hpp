// SPDX-License-Identifier: Apache-2.0
// The headers that say who is calling, kept fresh.
#pragma once

#include <memory>
#include <string>

#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/client/config.hpp>
#include <evenkeel/http/message.hpp>

namespace evenkeel::inline v0::detail {

/// Thread safety: all members may be called concurrently.
class Credentials {
 public:
  Credentials(const Config& config, std::shared_ptr<const Clock> clock);

  /// Adds Authorization and Impersonate headers. May read a file or run a program.
  void dress(http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);
  /// Whether there is a file or program to get another token from.
  bool refreshable() const { return !token_file_.empty() || !exec_.empty(); }
  /// After a 401: fetches the token again; true if it is another than `headers` carried.
  bool refresh(const http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);
  /// Has the next dress() fetch the token again, if it still is the one in `headers`. Does not block.
  void expire(const http::Headers& headers) EVENKEEL_EXCLUDES(mutex_);

 private:
  std::string authorization(TimePoint now) EVENKEEL_REQUIRES(mutex_);
  void read_token(TimePoint now) EVENKEEL_REQUIRES(mutex_);
  void run_plugin(TimePoint now) EVENKEEL_REQUIRES(mutex_);

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
};

}  // namespace evenkeel::inline v0::detail
