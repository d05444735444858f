// SPDX-License-Identifier: Apache-2.0
#include "apiserver/core/lost_version.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "apiserver/query/list_options.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Source: apiserver pkg/storage/cacher/util.go calculateRetryAfterForUnreadyCache.
int retry_after(WallTime::duration downtime) {
  const double seconds = std::chrono::duration<double>(downtime).count();
  return static_cast<int>(std::clamp(std::exp(0.06 * seconds), 1.0, 30.0));
}

/// Returns true if a real server reads the objects from etcd instead of its watch cache while that is not
/// ready. Source: apiserver pkg/storage/cacher/delegator.go.
bool reads_past_the_cache(const Call& call, std::string_view verb) {
  if (verb == "watch") return false;
  const ListOptions options = list_options(call.query);
  if (options.exact || options.next) return true;
  const bool paged = options.limit > 0 || verb == "deletecollection";
  return paged && selection_of(call).has_no_attributes();
}

}  // namespace

StatusError not_ready(const Call& call, const StatusError& error, WallTime since) {
  const ResourceType& type = *call.type;
  return {429, "TooManyRequests",
          "storage is (re)initializing: failed to list " + type.api_version() + ", Kind=" + type.kind + ": " +
              error.body()["message"].string_or(""),
          Json::object({{"retryAfterSeconds", retry_after(call.now - since)}})};
}

void require_version(Server& server, Call& call, std::string_view verb) {
  const auto since = server.watches.lost().since(*call.type);
  if (!since || reads_past_the_cache(call, verb)) return;
  const std::uint64_t version = pinned_version(call).value_or(call.storage.store.version());
  std::vector<StoredPtr> objects = call.storage.store.snapshot(call.collection(), "", version);
  try {
    bring_to_version(call, objects);
  } catch (const StatusError& error) {
    throw not_ready(call, error, *since);
  }
  server.watches.lost().recover(*call.type, version);
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
