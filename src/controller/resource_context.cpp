// SPDX-License-Identifier: Apache-2.0
#include <stdexcept>
#include <utility>

#include <evenkeel/controller/resource_context.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

using Object = ResourceContext::Object;

ResourceInfo info_of(const ResourceId& id) {
  return {.group = id.group, .version = id.version, .kind = id.kind, .plural = id.plural, .scope = id.scope};
}

std::vector<Object> decoded(const std::vector<WireObject>& objects) {
  std::vector<Object> result;
  result.reserve(objects.size());
  for (const WireObject& object : objects) result.push_back(object.decode<DynamicObject>());
  return result;
}

}  // namespace

detail::DynamicPrimary::DynamicPrimary(ResourceId resource_, Snapshot<DynamicObject> found)
    : id(std::move(resource_)),
      info(info_of(id)),
      original(std::move(found)),
      meta(original->metadata()),
      latest(original) {
  object = original.get();
  metadata = &meta;
  resource = &info;
}

ResourceContext Context::resource(ResourceId id) {
  return ResourceContext(*this, std::move(id));
}

ResourceContext::ResourceContext(Context& context, ResourceId resource)
    : context_(context), client_(context.client().resource(std::move(resource))) {}

Object ResourceContext::find(const ObjectKey& key) const {
  if (const Cache* cache = context_.options_.cache) {
    if (const auto found = cache->find_wire(resource(), key, context_.client()))
      return found->decode<DynamicObject>();
  }
  return client_.find(key);
}

std::vector<Object> ResourceContext::list(const ListOptions& options) const {
  if (const Cache* cache = context_.options_.cache) {
    if (const auto found = cache->list_wire(resource(), options, context_.client())) return decoded(*found);
  }
  return client_.list(options).items;
}

std::vector<Object> ResourceContext::list(const IndexQuery& query, const IndexListOptions& options) const {
  const Cache* cache = context_.options_.cache;
  if (cache == nullptr) Context::refuse_without_cache(info_of(resource()), query.index);
  return decoded(cache->list_wire(resource(), query, options, context_.client()));
}

std::vector<Object> ResourceContext::owned_by(const ObjectMeta& owner) const {
  if (const Cache* cache = context_.options_.cache) {
    if (const auto found = cache->owned_wire(resource(), owner.uid, owner.namespace_, context_.client()))
      return decoded(*found);
  }
  return decoded(detail::list_owned(context_.client(), resource(), owner.uid, owner.namespace_));
}

Object ResourceContext::apply(DynamicObject object, ContextApplyOptions options) {
  imply(object, options.own, "apply");
  const bool reads = options.skip_unchanged || options.unowned == Unowned::refuse;
  Object current = reads ? find(object.key()) : Object();
  if (!current && options.unowned == Unowned::refuse) current = client_.find(object.key());
  return apply_to(std::move(current), std::move(object), options);
}

Object ResourceContext::apply_to(Object current, DynamicObject object, const ContextApplyOptions& options) {
  ObjectMeta metadata = object.metadata();
  const ObjectMeta current_metadata = current ? current->metadata() : ObjectMeta();
  if (!context_.must_apply(options, resource(), metadata, object.body(),
                           current ? &current_metadata : nullptr, current ? current->body() : Json()))
    return current;
  for (const auto& [name, value] : metadata.annotations) object.set_annotation(name, value);
  try {
    return wrote(client_.apply(object, {.force = options.force}));
  } catch (const ApiError& error) {
    if (!options.recreate_immutable || !context_.must_recreate(error, resource(), metadata)) throw;
  }
  return wrote(client_.apply(object, {.force = options.force}));
}

Object ResourceContext::create(DynamicObject object, ContextCreateOptions options) {
  imply(object, options.own, "create");
  return wrote(client_.create(object));
}

Object ResourceContext::update(const DynamicObject& object) {
  return wrote(client_.update(object));
}

Object ResourceContext::patch(const DynamicObject& object, const Edit& edit) {
  return patch(current(object), edit);
}
Object ResourceContext::patch(const Object& object, const Edit& edit) {
  return wrote(client_.patch(object, edit));
}
Object ResourceContext::patch_status(const DynamicObject& object, const Edit& edit) {
  return patch_status(current(object), edit);
}
Object ResourceContext::patch_status(const Object& object, const Edit& edit) {
  return wrote(client_.patch(object, edit, "status"));
}

void ResourceContext::remove(const ObjectKey& key, DeleteOptions options) {
  if (options.uid.empty()) options.uid = context_.reconciled_uid(info_of(resource()), key);
  client_.remove(key, options);
}
void ResourceContext::remove(const DynamicObject& object, const DeleteOptions& options) {
  client_.remove(object, options);
}

const Cache* ResourceContext::cache() const noexcept {
  return context_.options_.cache;
}

/// Fills in the namespace and the controller of an object that is to be written.
void ResourceContext::imply(DynamicObject& object, bool own, const char* verb) const {
  ObjectMeta metadata = object.metadata();
  context_.imply(info_of(resource()), metadata, own, verb);
  Json& body = object["metadata"];
  if (!metadata.namespace_.empty()) body["namespace"] = metadata.namespace_;
  if (!metadata.uid.empty()) body["uid"] = metadata.uid;
  if (metadata.owner_references.empty()) return;
  body["ownerReferences"] = to_tree(metadata)["ownerReferences"];
}

/// Returns the state of the reconciled object after the last write of this run.
const Object& ResourceContext::current(const DynamicObject& object) const {
  const auto* primary = dynamic_cast<const detail::DynamicPrimary*>(context_.primary_.get());
  if (primary == nullptr || primary->object != &object) Context::refuse_other_object();
  return primary->latest;
}

/// Records the server's answer to a write: later patches are based on it.
Object ResourceContext::wrote(Object object) const {
  auto* primary = dynamic_cast<detail::DynamicPrimary*>(context_.primary_.get());
  if (primary != nullptr && object && primary->meta.uid == object->uid()) primary->latest = object;
  return object;
}

}  // namespace v0
}  // namespace evenkeel
