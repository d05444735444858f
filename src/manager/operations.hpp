// SPDX-License-Identifier: Apache-2.0
// What a manager can be asked over HTTP, whoever carries the questions: our endpoint, or a host's own server.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

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
  /// A check of the program in a form that cannot hold up a probe, see guard_check(); null for a null one.
  Probe::Check guarded(Probe::Check check) const;
  /// Of "/healthz", "/readyz" or one of their checks; 404 for any other path.
  http::Response answer_probe(const http::Target& target);

  void add(EndpointRoute route) EVENKEEL_EXCLUDES(mutex_);
  /// Gives all routes to `take`, now and later; in place of whoever took them before.
  void hand_routes_to(TakeRoute take) EVENKEEL_EXCLUDES(mutex_);

 private:
  const std::shared_ptr<const Clock> clock_;
  const std::function<void(std::string_view)> on_thread_start_;
  Probe healthz_;
  Probe readyz_;
  MetricRegistry metrics_;
  Mutex mutex_;
  std::vector<EndpointRoute> routes_ EVENKEEL_GUARDED_BY(mutex_);
  TakeRoute take_ EVENKEEL_GUARDED_BY(mutex_);
};

/// What keeps a controller from doing its work: kinds that were not listed yet, or that the server does not
/// know or does not let it follow any more. Empty: nothing. That the server cannot be reached for a while
/// does not count once the kinds were listed: no replica of the program is better off.
std::string unready(const Controller& controller, TimePoint now);

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
