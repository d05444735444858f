// SPDX-License-Identifier: Apache-2.0
// GET of one object and of lists.
#include <algorithm>
#include <charconv>
#include <utility>

#include "testing/list_options.hpp"
#include "testing/respond.hpp"
#include "testing/rest.hpp"
#include "testing/write.hpp"

namespace evenkeel::inline v0::testing {
namespace {

struct Page {
  std::vector<StoredPtr> items = {};
  std::uint64_t version = 0;
  std::string continue_token = {};
  std::optional<std::size_t> remaining = {};
};

[[noreturn]] void refuse_future(std::uint64_t version, std::uint64_t current) {
  Json causes = Json::array(
      {Json::object({{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}})});
  throw StatusError(504, "Timeout",
                    "Timeout: Too large resource version: " + std::to_string(version) +
                        ", current: " + std::to_string(current),
                    Json::object({{"causes", std::move(causes)}, {"retryAfterSeconds", 1}}));
}

/// The version that a list shows. Throws StatusError where that is not to be had.
std::uint64_t list_version(const Server& server, const Call& call, const ListOptions& options) {
  const std::uint64_t current = server.store.version();
  if (options.next) {
    if (options.next->version == 0) return current;
    if (options.next->version < server.store.oldest_version()) {
      StatusError error = StatusError::expired(
          "The provided continue parameter is too old to display a consistent list result. You can start a "
          "new list "
          "without the continue parameter, or use the continue token in this response to retrieve the "
          "remainder of "
          "the results. Continuing with the provided token results in an inconsistent list - objects that "
          "were "
          "created, modified, or deleted between the time the first chunk was returned and now may show up "
          "in the "
          "list.");
      throw error.with_continue(encode_continue({.version = 0, .start = options.next->start}));
    }
    return options.next->version;
  }
  if (options.version > current) refuse_future(options.version, current);
  if (!options.exact) return options.cached ? cached_version(call, options.version) : current;
  if (options.version < server.store.oldest_version())
    throw StatusError::expired("The resourceVersion for the provided list is too old.");
  return options.version;
}

Page read_page(Server& server, const Call& call, const ListOptions& options) {
  const ResourceType& type = *call.type;
  const std::string prefix = key_prefix(call);
  const Selection selection = selection_of(call);
  Page page{.version = list_version(server, call, options)};
  std::vector<StoredPtr> all = server.store.snapshot(*type.collection, prefix, page.version);
  if (const std::string name = selection.fields.name(); !name.empty() && call.path.in_namespace)
    std::erase_if(all, [&](const StoredPtr& object) { return object->name() != name; });
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string key = type.collection->key_of(all[i]->namespace_(), all[i]->name());
    if (options.next && key < prefix + options.next->start) continue;
    // Whether there is more is asked before whether it matches.
    if (options.limit > 0 && page.items.size() == options.limit) {
      const StoredPtr& last = page.items.back();
      const std::string shown = type.collection->key_of(last->namespace_(), last->name());
      // The next page starts at the smallest key after the last one shown.
      page.continue_token =
          encode_continue({.version = page.version, .start = shown.substr(prefix.size()) + '\0'});
      if (selection.empty()) page.remaining = all.size() - i;
      break;
    }
    if (selection.empty() || selection.matches(*all[i], type)) page.items.push_back(std::move(all[i]));
  }
  return page;
}

Json list_metadata(const Call& call, const Page& page) {
  Json metadata = Json::object({{"resourceVersion", std::to_string(page.version)}});
  const bool always = call.type->custom && call.form.form == Representation::Form::object;
  if (!page.continue_token.empty() || always) metadata["continue"] = page.continue_token;
  if (page.remaining) metadata["remainingItemCount"] = *page.remaining;
  return metadata;
}

/// Items of built-in kinds do not say what they are, items of custom ones do.
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

/// What a lagging watch cache has of the object. Throws StatusError (404).
StoredPtr cached_object(Server& server, const Call& call, std::uint64_t minimum) {
  const std::uint64_t version = cached_version(call, minimum);
  for (StoredPtr& object : server.store.snapshot(*call.type->collection, call.key(), version))
    if (object->name() == call.path.name) return std::move(object);
  throw StatusError::not_found(call.type->resource(), call.path.name);
}

}  // namespace

std::string key_prefix(const Call& call) {
  return call.type->namespaced && call.path.in_namespace ? call.path.namespace_ + "/" : "";
}

Selection selection_of(const Call& call) {
  return {LabelQuery(call.query.get("labelSelector")),
          FieldQuery(call.query.get("fieldSelector"), *call.type)};
}

std::uint64_t cached_version(const Call& call, std::uint64_t minimum) {
  const Store& store = call.server.store;
  std::uint64_t version = store.version();
  if (call.lag.time > Duration::zero())
    version = store.version_at(call.now - std::chrono::duration_cast<WallTime::duration>(call.lag.time));
  version -= std::min(version, call.lag.versions);
  return std::max({version, store.oldest_version(), minimum});
}

http::Response rest_get(Server& server, Call& call) {
  const std::uint64_t version = object_version(call.query);
  if (version > server.store.version()) refuse_future(version, server.store.version());
  if (!call.query.get("resourceVersion").empty() && !call.lag.none())
    return object_response(call, 200, *cached_object(server, call, version));
  return object_response(call, 200, *require_object(server, call));
}

http::Response rest_list(Server& server, Call& call) {
  const ListOptions options = list_options(call.query);
  const Page page = read_page(server, call, options);
  return json_response(200, call.form.form == Representation::Form::object ? list_text(call, page)
                                                                           : reshaped_page(call, page));
}

}  // namespace evenkeel::inline v0::testing
