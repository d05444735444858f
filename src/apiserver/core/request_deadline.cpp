// SPDX-License-Identifier: Apache-2.0
#include "apiserver/core/request_deadline.hpp"

#include <chrono>
#include <string>

#include <evenkeel/base/duration_text.hpp>

#include "apiserver/query/rest_path.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

using namespace std::chrono_literals;

// Source: apiserver pkg/server/config.go RequestTimeout; pkg/endpoints/handlers/rest.go
// requestTimeoutUpperBound.
constexpr Duration longest_request = 60s;
constexpr Duration longest_write = 34s;
constexpr std::uint64_t most_disturbances = 1000;

StatusError timed_out(const std::string& problem) {
  return {504, "Timeout", "Timeout: request did not complete within " + problem, Json::object()};
}

/// Returns the time of any request: the client's timeout if it is shorter. Source: apiserver
/// pkg/endpoints/filters/request_deadline.go.
Duration allotted(const Query& query) {
  const auto asked = parse_duration(query.get("timeout"));
  return asked && *asked > Duration::zero() && *asked < longest_request ? *asked : longest_request;
}

}  // namespace

std::optional<StatusError> overdue(const http::Request& request, WebhookProgress& progress, WallTime now,
                                   std::uint64_t version) {
  const bool reads = request.method == http::Method::get;
  const Target target = parse_target(request.target);
  if (reads && target.query.flag("watch")) return std::nullopt;
  const Duration limit = allotted(target.query);
  if (now - progress.began >= limit) {
    if (reads || limit < longest_write) return timed_out("the allotted timeout");
  }
  if (reads) return std::nullopt;
  const bool disturbed = progress.version != 0 && progress.version != version;
  progress.version = version;
  if (disturbed && now == progress.began) ++progress.disturbed;
  if (now - progress.began >= longest_write || progress.disturbed > most_disturbances)
    return timed_out("requested timeout - context deadline exceeded");
  return std::nullopt;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
