// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>

#include <evenkeel/api/metadata.hpp>

namespace evenkeel {
inline namespace v0 {
namespace {

std::string_view group_of(std::string_view api_version) {
  const auto slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

auto find_owner(ObjectMeta& object, const OwnerReference& wanted) {
  return std::find_if(object.owner_references.begin(), object.owner_references.end(),
                      [&](const OwnerReference& reference) { return same_owner(reference, wanted); });
}

void check_namespace(const ObjectMeta& object, const OwnerReference& reference,
                     std::string_view owner_namespace) {
  if (owner_namespace.empty() || owner_namespace == object.namespace_) return;
  const std::string owner = reference.kind + " " + std::string(owner_namespace) + "/" + reference.name;
  if (object.namespace_.empty())
    throw std::invalid_argument("owner reference: cluster-scoped object \"" + object.name +
                                "\" cannot be owned by the namespaced " + owner);
  throw std::invalid_argument("owner reference: object \"" + key_of(object).str() + "\" cannot be owned by " +
                              owner + " of another namespace");
}

}  // namespace

EVENKEEL_DEFINE_FIELDS(OwnerReference, api_version, kind, name, uid, controller, block_owner_deletion)
EVENKEEL_DEFINE_FIELDS(ObjectMeta, (name, omit_empty), (generate_name, omit_empty), (namespace_, omit_empty),
                       (uid, omit_empty), (resource_version, omit_empty), (generation, omit_empty),
                       creation_timestamp, deletion_timestamp, deletion_grace_period_seconds, labels,
                       annotations, (finalizers, list_set), (owner_references, list_map("uid")),
                       (managed_fields, list_atomic))
EVENKEEL_DEFINE_FIELDS(Condition, (type, required, max_length(316)),
                       (status, required, one_of("True", "False", "Unknown")),
                       (observed_generation, minimum(0)), (last_transition_time, required),
                       (reason, required, min_length(1), max_length(1024)),
                       (message, required, max_length(32768)))

bool has_finalizer(const ObjectMeta& metadata, std::string_view finalizer) {
  return std::find(metadata.finalizers.begin(), metadata.finalizers.end(), finalizer) !=
         metadata.finalizers.end();
}

bool add_finalizer(ObjectMeta& metadata, std::string_view finalizer) {
  if (has_finalizer(metadata, finalizer)) return false;
  metadata.finalizers.emplace_back(finalizer);
  return true;
}

bool remove_finalizer(ObjectMeta& metadata, std::string_view finalizer) {
  return std::erase(metadata.finalizers, finalizer) > 0;
}

AlreadyOwned::AlreadyOwned(const ObjectMeta& object, OwnerReference owner)
    : Error("object \"" + key_of(object).str() + "\" is already owned by the controller " + owner.kind +
            " \"" + owner.name + "\""),
      owner_(std::move(owner)) {}

const OwnerReference* controller_of(const ObjectMeta& metadata) {
  for (const OwnerReference& reference : metadata.owner_references) {
    if (reference.controller == true) return &reference;
  }
  return nullptr;
}

bool same_owner(const OwnerReference& a, const OwnerReference& b) {
  return group_of(a.api_version) == group_of(b.api_version) && a.kind == b.kind && a.name == b.name;
}

OwnerReference owner_reference(const ResourceInfo& resource, const ObjectMeta& owner) {
  if (owner.name.empty() || owner.uid.empty())
    throw std::invalid_argument("owner reference: the owner " + std::string(resource.kind) + " \"" +
                                key_of(owner).str() + "\" needs a name and a uid");
  return {.api_version = resource.api_version(),
          .kind = std::string(resource.kind),
          .name = owner.name,
          .uid = owner.uid,
          .controller = {},
          .block_owner_deletion = {}};
}

void set_owner(ObjectMeta& object, OwnerReference reference, std::string_view owner_namespace) {
  check_namespace(object, reference, owner_namespace);
  const auto place = find_owner(object, reference);
  if (place == object.owner_references.end()) {
    object.owner_references.push_back(std::move(reference));
  } else {
    *place = std::move(reference);
  }
}

void set_controller(ObjectMeta& object, OwnerReference reference, std::string_view owner_namespace) {
  const OwnerReference* current = controller_of(object);
  if (current != nullptr && !same_owner(*current, reference)) throw AlreadyOwned(object, *current);
  reference.controller = true;
  if (!reference.block_owner_deletion) reference.block_owner_deletion = true;
  set_owner(object, std::move(reference), owner_namespace);
}

bool remove_owner(ObjectMeta& object, const OwnerReference& reference) {
  const auto place = find_owner(object, reference);
  if (place == object.owner_references.end()) return false;
  object.owner_references.erase(place);
  return true;
}

const Condition* find_condition(const std::vector<Condition>& conditions, std::string_view type) {
  for (const Condition& condition : conditions) {
    if (condition.type == type) return &condition;
  }
  return nullptr;
}

bool is_condition_true(const std::vector<Condition>& conditions, std::string_view type) {
  const Condition* found = find_condition(conditions, type);
  return found != nullptr && found->status == "True";
}

bool set_condition(std::vector<Condition>& conditions, Condition condition, WallTime now) {
  auto* found = const_cast<Condition*>(find_condition(conditions, condition.type));
  if (found == nullptr) {
    if (!condition.last_transition_time) condition.last_transition_time = now;
    conditions.push_back(std::move(condition));
    return true;
  }
  if (found->status != condition.status) {
    if (!condition.last_transition_time) condition.last_transition_time = now;
  } else {
    condition.last_transition_time = found->last_transition_time;
  }
  if (*found == condition) return false;
  *found = std::move(condition);
  return true;
}

bool remove_condition(std::vector<Condition>& conditions, std::string_view type) {
  return std::erase_if(conditions, [&](const Condition& condition) { return condition.type == type; }) > 0;
}

}  // namespace v0
}  // namespace evenkeel
