// SPDX-License-Identifier: Apache-2.0
// Watches. Source: apiserver pkg/storage/cacher.
#include <algorithm>
#include <chrono>
#include <utility>

#include "apiserver/core/lost_version.hpp"
#include "apiserver/core/server.hpp"
#include "apiserver/query/list_options.hpp"
#include "apiserver/request/respond.hpp"
#include "apiserver/rest/list_page.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Returns the objects with which a watch begins, in its version. Throws StatusError (429) if one cannot be
/// converted.
std::vector<StoredPtr> present_objects(Call& call, const Selection& selection, std::uint64_t version) {
  std::vector<StoredPtr> objects = call.storage.store.snapshot(call.collection(), key_prefix(call), version);
  try {
    bring_to_version(call, objects);
  } catch (const StatusError& error) {
    throw not_ready(call, error, call.now);
  }
  std::erase_if(objects, [&](const StoredPtr& object) {
    return !selection.empty() && !selection.matches(*object, *call.type);
  });
  return objects;
}

/// Queues the changes since `version`. Older ones than `first` are not available.
void add_past(Server& server, std::uint64_t version, std::uint64_t first, WatchId id) {
  const std::uint64_t oldest = std::max(server.storage.store.oldest_version(), first);
  if (version < oldest) {
    server.watches.fail(id, StatusError::expired("too old resource version: " + std::to_string(version) +
                                                 " (" + std::to_string(oldest) + ")")
                                .body());
    return;
  }
  for (const ChangePtr& change : server.storage.store.changes_since(version))
    server.watches.deliver(id, change);
}

constexpr std::int64_t longest_watch = 1'000'000'000;  // in seconds; what a time can express

WallTime::duration held_for(const CacheLag& lag) {
  return std::chrono::duration_cast<WallTime::duration>(lag.time + lag.events);
}

}  // namespace

Answer rest_watch(Server& server, Call& call) {
  const WatchOptions options = watch_options(call.query);
  const Selection selection = selection_of(call);
  const auto length =
      options.timeout_seconds
          ? std::chrono::duration_cast<WallTime::duration>(
                std::chrono::seconds(std::min(*options.timeout_seconds, longest_watch)))
          : std::chrono::duration_cast<WallTime::duration>(server.options.default_watch_timeout);
  // A streaming list without a version is consistent: it waits for the cache.
  const bool consistent = options.send_initial_events.value_or(false) && !options.version_given;
  const bool initial = options.send_initial_events.value_or(options.version == 0);
  const std::uint64_t now = pinned_version(call).value_or(server.storage.store.version());
  const std::uint64_t start = consistent ? now : cached_version(call, options.version, now);
  const bool ahead = options.version > server.storage.store.version();
  std::vector<StoredPtr> present;
  if (initial && !ahead) present = present_objects(call, selection, start);
  const WatchId id = server.watches.open({.type = call.type,
                                          .prefix = key_prefix(call),
                                          .selection = selection,
                                          .form = call.form,
                                          .include = include_object(call.query),
                                          .bookmarks = options.bookmarks,
                                          .after = ahead ? options.version : 0,
                                          .ends = call.now + length,
                                          .held_for = held_for(call.lag),
                                          .held_versions = call.lag.versions},
                                         call.now);
  if (initial && ahead) {
    server.watches.fail(id, too_large_version(options.version, server.storage.store.version()).body());
  } else if (initial) {
    for (StoredPtr& object : present) server.watches.add_present(id, std::move(object));
    if (options.send_initial_events && options.bookmarks)
      server.watches.add_bookmark(id, start, WatchHub::Bookmark::end_of_initial_events);
    add_past(server, start, 0, id);
  } else {
    add_past(server, options.version > 0 ? options.version : start, server.watches.lost().first(*call.type),
             id);
  }
  return {.response = json_response(200, ""), .watch = id};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
