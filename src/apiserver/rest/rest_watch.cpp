// SPDX-License-Identifier: Apache-2.0
// Watches. Source: apiserver pkg/storage/cacher.
#include <chrono>
#include <utility>

#include "apiserver/rest/list_options.hpp"
#include "apiserver/rest/respond.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/server.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

void add_present(Server& server, const Call& call, const Selection& selection, std::uint64_t version,
                 WatchId id) {
  const Collection& collection = call.collection();
  for (StoredPtr& object : server.storage.store.snapshot(collection, key_prefix(call), version))
    if (selection.empty() || selection.matches(*object, *call.type))
      server.watches.add_present(id, std::move(object));
}

void add_past(Server& server, std::uint64_t version, WatchId id) {
  const std::uint64_t oldest = server.storage.store.oldest_version();
  if (version < oldest) {
    server.watches.fail(id, StatusError::expired("too old resource version: " + std::to_string(version) +
                                                 " (" + std::to_string(oldest) + ")")
                                .body());
    return;
  }
  for (const ChangePtr& change : server.storage.store.changes_since(version))
    server.watches.deliver(id, change);
}

WallTime::duration held_for(const CacheLag& lag) {
  return std::chrono::duration_cast<WallTime::duration>(lag.time + lag.events);
}

}  // namespace

Answer rest_watch(Server& server, Call& call) {
  const WatchOptions options = watch_options(call.query);
  const Selection selection = selection_of(call);
  const auto length =
      options.timeout_seconds
          ? std::chrono::duration_cast<WallTime::duration>(std::chrono::seconds(*options.timeout_seconds))
          : std::chrono::duration_cast<WallTime::duration>(server.options.default_watch_timeout);
  const WatchId id = server.watches.open({.type = call.type,
                                          .prefix = key_prefix(call),
                                          .selection = selection,
                                          .form = call.form,
                                          .include = include_object(call.query),
                                          .bookmarks = options.bookmarks,
                                          .ends = call.now + length,
                                          .held_for = held_for(call.lag),
                                          .held_versions = call.lag.versions},
                                         call.now);
  // A streaming list without a version is consistent: it waits for the cache.
  const bool consistent = options.send_initial_events.value_or(false) && !options.version_given;
  const std::uint64_t start =
      consistent ? server.storage.store.version() : cached_version(call, options.version);
  if (options.send_initial_events.value_or(options.version == 0)) {
    add_present(server, call, selection, start, id);
    if (options.send_initial_events && options.bookmarks)
      server.watches.add_bookmark(id, start, WatchHub::Bookmark::end_of_initial_events);
    add_past(server, start, id);
  } else {
    add_past(server, options.version > 0 ? options.version : start, id);
  }
  return {.response = json_response(200, ""), .watch = id};
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
