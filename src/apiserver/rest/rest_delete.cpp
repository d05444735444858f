// SPDX-License-Identifier: Apache-2.0
// DELETE of one object and of many.
#include <utility>
#include <vector>

#include "apiserver/request/respond.hpp"
#include "apiserver/rest/deletion.hpp"
#include "apiserver/rest/list_page.hpp"
#include "apiserver/rest/rest.hpp"
#include "apiserver/rest/write.hpp"
#include "apiserver/webhook/conversions.hpp"
#include "apiserver/webhook/webhook_admission.hpp"

namespace evenkeel {
inline namespace v0 {
namespace apiserver {
namespace {

void refuse_protected(const Call& call) {
  if (call.type->custom || !call.type->group.empty() || call.type->plural != "namespaces") return;
  for (const char* name : {"default", "kube-system", "kube-public"})
    if (call.path.name == name)
      throw StatusError::forbidden(call.type->resource(), name, "this namespace may not be deleted");
}

Json deleted_details(const ResourceType& type, const Stored& object) {
  Json details = Json::object({{"name", object.name()}, {"kind", type.plural}, {"uid", object.uid()}});
  if (!type.group.empty()) details["group"] = type.group;
  return details;
}

http::Response delete_custom(Call& call, const StoredPtr& object, Json shown, const DeleteOptions& options) {
  const std::optional<WriteOutcome> marked = CustomDeletion(call, object, std::move(shown), options).run();
  if (!marked) return json_response(200, success_status(deleted_details(*call.type, *object)).dump());
  return write_response(call, options.cascade_asked_the_old_way ? 202 : 200, *marked);
}

/// Deletes the objects of a page as they are now. Nothing is done before webhooks have converted all of them.
void delete_custom_page(Call& call, const Page& page, const DeleteOptions& options) {
  std::vector<StoredPtr> live;
  for (const StoredPtr& object : page.items)
    if (StoredPtr now = call.storage.store.find(
            call.collection(), call.collection().key_of(object->namespace_(), object->name())))
      live.push_back(std::move(now));
  std::vector<StoredPtr> shown = live;
  bring_to_version(call, shown);
  std::vector<Json> documents, written;
  for (const StoredPtr& object : shown) {
    Json marked = documents.emplace_back(call.storage.document(*call.type, object));
    if (mark_custom(*call.type, marked, options, call.now))
      written.push_back(std::move(marked));
    else if (!options.dry_run)
      written.push_back(documents.back());
  }
  convert_for_storing(call, written, options.dry_run);
  std::vector<CustomDeletion> deletions;
  for (std::size_t i = 0; i < live.size(); ++i)
    deletions.emplace_back(call, live[i], std::move(documents[i]), options);
  for (CustomDeletion& deletion : deletions) std::move(deletion).run();
}

}  // namespace

http::Response rest_delete(Storage& storage, Call& call) {
  const DeleteOptions options = delete_options(call);
  refuse_protected(call);
  const StoredPtr object = require_object(storage, call);
  Json shown = document_of(call, object);
  admit_deletion(call, options, shown);
  if (call.type->custom) return delete_custom(call, object, std::move(shown), options);
  DeleteOutcome outcome = delete_object(storage, *call.type, object, options, call.now);
  if (outcome.removed && !call.type->rules.returns_deleted)
    return json_response(200, success_status(deleted_details(*call.type, *object)).dump());
  const bool accepted = !outcome.removed && options.cascade_asked_the_old_way;
  if (call.type->from_storage) outcome.body = call.type->from_storage(std::move(outcome.body));
  return document_response(call, accepted ? 202 : 200, std::move(outcome.body));
}

http::Response rest_delete_collection(Storage& storage, Call& call) {
  const DeleteOptions options = delete_options(call);
  const ResourceType& type = *call.type;
  const bool plain = call.form.form == Representation::Form::object;
  const Page page = read_page(storage, call, list_options(call.query));
  if (has_webhooks(storage))
    for (const StoredPtr& object : page.items) admit_deletion(call, options, storage.document(type, object));
  std::vector<Json> items;
  for (const StoredPtr& object : page.items) {
    Json item = storage.document(type, object);
    if (!type.custom && plain) {
      item.erase("apiVersion");
      item.erase("kind");
    }
    items.push_back(std::move(item));
    if (type.custom) continue;
    const StoredPtr live =
        storage.store.find(call.collection(), call.collection().key_of(object->namespace_(), object->name()));
    if (live) delete_object(storage, type, live, options, call.now);
  }
  if (type.custom) delete_custom_page(call, page, options);
  Json metadata = list_metadata(call, page);
  if (!plain) return json_response(200, reshaped_list(call, items, std::move(metadata)));
  Json list = Json::object({{"kind", type.list_kind}, {"apiVersion", type.api_version()}});
  list["metadata"] = std::move(metadata);
  list["items"] = Json(std::move(items));
  return json_response(200, list.dump());
}

}  // namespace apiserver
}  // namespace v0
}  // namespace evenkeel
