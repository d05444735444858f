// SPDX-License-Identifier: Apache-2.0
// Dependents of kinds without a C++ type.
#include <stdexcept>

#include <evenkeel/controller/dependents.hpp>
#include <evenkeel/controller/resource_context.hpp>

namespace evenkeel {
inline namespace v0 {
namespace detail {
namespace {

std::vector<OwnedDependent> list_objects(Context& context, const ResourceId& resource,
                                         const ObjectMeta& owner, const void*,
                                         const std::string& annotation) {
  std::vector<OwnedDependent> found;
  for (const Snapshot<DynamicObject>& one : context.resource(resource).owned_by(owner)) {
    ObjectMeta metadata = one->metadata();
    const OwnerReference* const controller = controller_of(metadata);
    if (controller == nullptr || controller->uid != owner.uid) continue;
    found.push_back(
        {key_of(metadata), metadata.uid, metadata.annotations[annotation], is_deleting(metadata)});
  }
  return found;
}

// Sets a member of an object that says of which kind it is; returns false if it is of another one.
bool fill(Json& member, const std::string& value) {
  if (member.is_null() || member.string_or("x").empty()) member = value;
  return member.string_or("") == value;
}

}  // namespace

DependentKind dependent_kind(ResourceId resource) {
  return {.resource = std::move(resource),
          .list = list_objects,
          .uid_of =
              [](Context& context, const ResourceId& id, const ObjectKey& key) {
                const Snapshot<DynamicObject> found = context.resource(id).find(key);
                return found ? std::string(found->uid()) : std::string();
              },
          .remove = [](Context& context, const ResourceId& id, const ObjectKey& key,
                       const DeleteOptions& options) { context.resource(id).remove(key, options); },
          .late = true};
}

void DependentObjects::claim(DynamicObject& object) {
  Json& body = object.body();
  if (!body.is_object())
    throw std::invalid_argument(resource_.kind + ": expected an object, found " +
                                std::string(body.kind_name()));
  const bool version = fill(body["apiVersion"], resource_.api_version());
  const bool kind = fill(body["kind"], resource_.kind);
  if (!version || !kind)
    throw std::invalid_argument(resource_.kind + " (" + resource_.api_version() + "): the object is a " +
                                std::string(object.kind()) + " (" + std::string(object.api_version()) + ")");
  ObjectMeta metadata = object.metadata();
  claim(metadata);
  Json& members = body["metadata"];
  if (!metadata.namespace_.empty()) members["namespace"] = metadata.namespace_;
  members["ownerReferences"] = to_tree(metadata)["ownerReferences"];
  object.set_annotation(annotation_, metadata.annotations[annotation_]);
}

void apply_dependents(Context& context, std::vector<DynamicObject> wanted,
                      const DependentFunction<Readiness, DynamicObject>& ready,
                      const ContextApplyOptions& options, DependentObjects& objects) {
  for (DynamicObject& object : wanted) objects.claim(object);
  ResourceContext kind = context.resource(objects.resource());
  for (DynamicObject& object : wanted) {
    objects.attempt([&] {
      const Snapshot<DynamicObject> before = kind.find(object.key());
      const ObjectMeta existing = before ? before->metadata() : ObjectMeta();
      if (before && !objects.can_apply(existing)) return;
      const Snapshot<DynamicObject> after = kind.apply(std::move(object), options);
      objects.on_applied(before ? &existing : nullptr, after->metadata(),
                         ready ? ready(context, *after) : Readiness(true));
    });
  }
}

}  // namespace detail
}  // namespace v0
}  // namespace evenkeel
