// SPDX-License-Identifier: Apache-2.0
#include "apiserver/rest/list_page.hpp"

#include <utility>

#include "apiserver/rest/rest.hpp"
#include "apiserver/webhook/conversions.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

/// Returns the version of a list. Throws StatusError if it is not available.
std::uint64_t list_version(const Storage& storage, const Call& call, const ListOptions& options) {
  const std::uint64_t current = storage.store.version();
  if (options.next) {
    if (options.next->version == 0) return pinned_version(call).value_or(current);
    if (options.next->version < storage.store.oldest_version()) {
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
  if (!options.exact && options.cached) return cached_version(call, options.version);
  if (!options.exact) return pinned_version(call).value_or(current);
  if (options.version < storage.store.oldest_version())
    throw StatusError::expired("The resourceVersion for the provided list is too old.");
  return options.version;
}

}  // namespace

StatusError too_large_version(std::uint64_t version, std::uint64_t current) {
  Json causes = Json::array(
      {Json::object({{"reason", "ResourceVersionTooLarge"}, {"message", "Too large resource version"}})});
  return {504, "Timeout",
          "Timeout: Too large resource version: " + std::to_string(version) +
              ", current: " + std::to_string(current),
          Json::object({{"causes", std::move(causes)}, {"retryAfterSeconds", 1}})};
}

void refuse_future(std::uint64_t version, std::uint64_t current) {
  throw too_large_version(version, current);
}

Page read_page(Storage& storage, Call& call, const ListOptions& options) {
  const ResourceType& type = *call.type;
  const std::string prefix = key_prefix(call);
  const Selection selection = selection_of(call);
  Page page{.version = list_version(storage, call, options), .shards = selection.shards.text()};
  std::vector<StoredPtr> all = storage.store.snapshot(call.collection(), prefix, page.version);
  if (const std::string name = selection.fields.name(); !name.empty() && call.path.in_namespace)
    std::erase_if(all, [&](const StoredPtr& object) { return object->name() != name; });
  if (options.next)
    std::erase_if(all, [&, start = prefix + options.next->start](const StoredPtr& object) {
      return call.collection().key_of(object->namespace_(), object->name()) < start;
    });
  // Selectors look at converted objects.
  if (!selection.empty()) bring_to_version(call, all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // The existence of a next page is checked before matching.
    if (options.limit > 0 && page.items.size() == options.limit) {
      const StoredPtr& last = page.items.back();
      const std::string shown = call.collection().key_of(last->namespace_(), last->name());
      // The next page starts at the smallest key after the last item.
      page.continue_token =
          encode_continue({.version = page.version, .start = shown.substr(prefix.size()) + '\0'});
      // The number counts also the objects of other shards: it is what follows the first `limit` ones.
      // Source: apiserver pkg/storage/continue.go PrepareContinueToken.
      if (selection.has_no_attributes()) page.remaining = all.size() - options.limit;
      break;
    }
    if (selection.empty() || selection.matches(*all[i], type)) page.items.push_back(std::move(all[i]));
  }
  bring_to_version(call, page.items);
  return page;
}

Json list_metadata(const Call& call, const Page& page) {
  Json metadata = Json::object({{"resourceVersion", std::to_string(page.version)}});
  const bool always = call.type->custom && call.form.form == Representation::Form::object;
  if (!page.continue_token.empty() || always) metadata["continue"] = page.continue_token;
  if (page.remaining) metadata["remainingItemCount"] = *page.remaining;
  // Lists of custom objects, of metadata and Tables have no member for it.
  if (!page.shards.empty() && !call.type->custom && call.form.form == Representation::Form::object)
    metadata["shardInfo"] = Json::object({{"selector", page.shards}});
  return metadata;
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
