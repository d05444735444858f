// SPDX-License-Identifier: Apache-2.0
// GET of one object and of lists.
#include <algorithm>
#include <charconv>
#include <utility>

#include "apiserver/request/respond.hpp"
#include "apiserver/rest/list_page.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Items of built-in kinds have no apiVersion and kind, items of custom ones do.
std::string list_text(const Call& call, const Page& page) {
  const ResourceType& type = *call.type;
  std::string out = "{\"kind\":\"" + type.list_kind + "\",\"apiVersion\":\"" + type.api_version() +
                    "\",\"metadata\":" + list_metadata(call, page).dump() + ",\"items\":[";
  const std::string head = type.custom ? type.head() + "," : "";
  bool first = true;
  for (const StoredPtr& item : page.items) {
    out += std::exchange(first, false) ? "{" : ",{";
    out += head;
    type.append_members(*item, out);
    out += '}';
  }
  return out + "]}";
}

std::string reshaped_page(const Call& call, const Page& page) {
  std::vector<Json> documents;
  documents.reserve(page.items.size());
  for (const StoredPtr& item : page.items) documents.push_back(call.type->document(*item));
  return reshaped_list(call, documents, list_metadata(call, page));
}

/// Returns the object at a version in the history. Throws StatusError (404).
StoredPtr object_at(Storage& storage, const Call& call, std::uint64_t version) {
  for (StoredPtr& object : storage.store.snapshot(call.collection(), call.key(), version))
    if (object->name() == call.path.name) return std::move(object);
  throw StatusError::not_found(call.type->resource(), call.path.name);
}

}  // namespace

std::string key_prefix(const Call& call) {
  return call.type->namespaced && call.path.in_namespace ? call.path.namespace_ + "/" : "";
}

Selection selection_of(const Call& call) {
  const bool of_one = call.path.legacy_watch && !call.path.name.empty();
  const std::string fields =
      of_one ? "metadata.name=" + call.path.name : std::string(call.query.get("fieldSelector"));
  const std::string_view shards = call.sharded_lists ? call.query.get("shardSelector") : std::string_view();
  return {LabelQuery(call.query.get("labelSelector")), FieldQuery(fields, *call.type), ShardQuery(shards)};
}

std::uint64_t cached_version(const Call& call, std::uint64_t minimum) {
  return cached_version(call, minimum, pinned_version(call).value_or(call.storage.store.version()));
}

std::uint64_t cached_version(const Call& call, std::uint64_t minimum, std::uint64_t present) {
  const Store& store = call.storage.store;
  std::uint64_t version = present;
  if (call.lag.time > Duration::zero())
    version = std::min(
        version, store.version_at(call.now - std::chrono::duration_cast<WallTime::duration>(call.lag.time)));
  version -= std::min(version, call.lag.versions);
  return std::max({version, store.oldest_version(), minimum});
}

http::Response rest_get(Storage& storage, Call& call) {
  const std::uint64_t version = object_version(call.query);
  if (version > storage.store.version()) refuse_future(version, storage.store.version());
  if (!call.query.get("resourceVersion").empty() && !call.lag.none())
    return object_response(call, 200,
                           in_version(call, object_at(storage, call, cached_version(call, version))));
  if (const auto pinned = pinned_version(call))
    return object_response(call, 200, in_version(call, object_at(storage, call, *pinned)));
  return object_response(call, 200, require_object(storage, call));
}

http::Response rest_list(Storage& storage, Call& call) {
  const ListOptions options = list_options(call.query);
  const Page page = read_page(storage, call, options);
  return json_response(200, call.form.form == Representation::Form::object ? list_text(call, page)
                                                                           : reshaped_page(call, page));
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
