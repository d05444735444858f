// SPDX-License-Identifier: Apache-2.0
// The responses to operational HTTP requests, independent of the server: that of the library, or that of a
// host program.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <evenkeel/api/json.hpp>
#include <evenkeel/base/clock.hpp>
#include <evenkeel/base/log.hpp>
#include <evenkeel/base/mutex.hpp>
#include <evenkeel/controller/controller.hpp>
#include <evenkeel/metrics/registry.hpp>
#include <evenkeel/serve/server.hpp>

#include "manager/probes.hpp"

namespace evenkeel {
inline namespace v0 {
namespace detail {

struct EndpointRoute {
  std::string path = {};
  http::Handler handler = {};
  http::RouteOptions options = {};
};

/// Thread safety: all members may be called concurrently.
class Operations {
 public:
  using TakeRoute = std::function<void(const EndpointRoute&)>;

  /// The clock and `on_thread_start`, which may be null, are for checks of the program.
  explicit Operations(const Log& log, std::shared_ptr<const Clock> clock = real_clock(),
                      std::function<void(std::string_view)> on_thread_start = {})
      : clock_(std::move(clock)),
        on_thread_start_(std::move(on_thread_start)),
        healthz_("healthz", log),
        readyz_("readyz", log) {}

  Probe& healthz() { return healthz_; }
  Probe& readyz() { return readyz_; }
  MetricRegistry& metrics() { return metrics_; }
  /// Wraps a check of the program so that it cannot block a probe, see guard_check(); null for a null one.
  Probe::Check guarded(Probe::Check check) const;
  /// Answers "/healthz", "/readyz" or one of their checks; 404 for any other path.
  http::Response answer_probe(const http::Target& target);

  void add(EndpointRoute route) EVENKEEL_EXCLUDES(mutex_);
  /// Passes all present and future routes to `take`, which replaces an earlier receiver.
  void hand_routes_to(TakeRoute take) EVENKEEL_EXCLUDES(mutex_);

  /// A section of the console; `read` returns its content.
  struct ConsoleSection {
    std::string title = {};
    std::function<Json()> read = {};
  };
  /// Throws std::invalid_argument if the title is taken or empty, or `section.read` is null.
  void add(ConsoleSection section) EVENKEEL_EXCLUDES(mutex_);
  std::vector<ConsoleSection> console_sections() const EVENKEEL_EXCLUDES(mutex_);

 private:
  const std::shared_ptr<const Clock> clock_;
  const std::function<void(std::string_view)> on_thread_start_;
  Probe healthz_;
  Probe readyz_;
  MetricRegistry metrics_;
  mutable Mutex mutex_;
  std::vector<ConsoleSection> console_sections_ EVENKEEL_GUARDED_BY(mutex_);
  std::vector<EndpointRoute> routes_ EVENKEEL_GUARDED_BY(mutex_);
  TakeRoute take_ EVENKEEL_GUARDED_BY(mutex_);
};

/// Returns the reason why a controller cannot work: kinds that were not listed yet, or that the server does
/// not know or no longer permits to watch. Empty: none. An unreachable server does not count once the kinds
/// were listed: it affects all replicas of the program alike.
std::string unready(const Controller& controller, TimePoint now);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
